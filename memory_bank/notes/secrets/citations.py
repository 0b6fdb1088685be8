"""Tell what a note cites (commits, symbols, files, links) from a secret.

Only for a value that is told by what stands beside it: one that has the form of a token is a secret wherever it stands.
"""

from __future__ import annotations

from memory_bank.base.plugins import pattern
from memory_bank.notes.secrets.secret_places import SecretPlace

_REACH, _BEFORE = 400, 60
"""Characters before a value in which its link begins, and in which a word says that it is a commit."""

_ID = pattern(
    r"(?:sym|test)-[0-9a-f]{12}"
    r"|[0-9a-f]{7,40}\.{2,3}[0-9a-f]{7,40}"  # a range of commits
    r"|[\w.-]+(?:/[\w.-]+)+@[0-9a-f]{7,40}"  # a commit of a repository
    r"|sha(?:1|256|384|512)[:=-][A-Za-z0-9+/=]{27,}"  # a checksum
)

_HASH = pattern(r"[0-9a-f]{7,40}|[0-9a-f]{64}")

_COMMIT = pattern(
    r"(?:(?<![a-z])(?:commits?|committed|revisions?|rev|reverts?|reverted|cherry[- ]?picked|backported|merge[ds]?|rebased|bisected"
    r"|sha-?1?|head|parent|upstream|fixup!?|squash!?|index)(?:[ ](?:in|into|of|at|to|by|from|with|and|id|hash|is|was|as|on))*[ :=]{0,2})[\"'`*_(\[<]{0,3}$",
    2,  # IGNORECASE
)
"""Words of git before the id of a commit."""

_LINE = r"(?::|#L)\d{1,6}(?:-L?\d{1,6})?"

_FILE = pattern(
    rf"(?:\.{{0,2}}/)?(?:[\w.@+-]+/)+[\w.@+-]*\.[A-Za-z][A-Za-z0-9]{{0,7}}(?:{_LINE})?"  # with a folder
    rf"|[\w@+-][\w.@+-]*\.[A-Za-z]{{1,8}}{_LINE}"  # with a line
)

_TRAILING = "`\"'*_.,;:)]}>"

_EDGE = " \t\r\n`\"'<>()[]|"

_PARTS = frozenset("/.#-")
"""Signs between the parts of a path, which a link to a note or a file has."""


def cited(text: str, place: SecretPlace) -> bool:
    """Tell whether a value is the id of a symbol or a commit, a file, or in the target of a link."""
    start, end = place.start, place.end
    while start > max(0, place.start - _REACH) and text[start - 1] not in _EDGE:
        start -= 1
    while end < min(len(text), place.end + _REACH) and text[end] not in _EDGE:
        end += 1
    word, at = text[start:end].rstrip(_TRAILING), place.start - start
    if _ID.fullmatch(word) or _FILE.fullmatch(word):
        return True
    if "=" in word[:at]:  # a pair, `name=value`, also in the query of an address
        return False
    if _HASH.fullmatch(word) and _COMMIT.search(text, max(0, start - _BEFORE), start):
        return True
    return _in_link(text, start, word, at)


def _in_link(text: str, start: int, word: str, at: int) -> bool:
    """Tell whether a place in a word that starts at `start` belongs to the target of a link."""
    scheme = word.find("://")
    if scheme >= 0:
        return not scheme < at <= word.find("/", scheme + 3)  # a login may stand before the host
    if text.endswith("](", 0, start):
        return bool(_PARTS.intersection(word))
    opened = text.rfind("[[", max(0, start - _REACH), start)
    if opened < 0 or any(mark in text[opened:start] for mark in ("]]", "\n")):
        return False
    return bool(_PARTS.intersection(word) or _HASH.fullmatch(word))
