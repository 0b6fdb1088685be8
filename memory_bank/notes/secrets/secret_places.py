"""Places of secrets in a text; those in URLs and HTTP headers, and what is only cited."""

from __future__ import annotations

from binascii import Error as NotBase64
from collections.abc import Iterator

from memory_bank.base import NamedTuple, lazy_pattern
from memory_bank.notes.secrets.placeholders import is_placeholder, is_random


class SecretPlace(NamedTuple):
    """A value in a text: its kind, start and end."""

    kind: str
    start: int
    end: int


MOST = 20_000
"""Maximum occurrences of one word that are examined in one text."""

PASSWORD, TOKEN, URL, HEADER = "password", "token or key", "URL with a password", "auth header"

_SCHEME = lazy_pattern(r"[ \t:]{1,3}[`\"']?([A-Za-z0-9._~+/=-]{8,4000})")

_USERINFO = lazy_pattern(r"""://([^\s:/@"'`<>()|]{0,80}):([^\s@"'`<>|]{1,200})@(?=[\w.\[$*{-])""")

_BARE_USERINFO = lazy_pattern(r"://([A-Za-z0-9_.~+-]{20,300})(?::x-oauth-basic)?@(?=[\w.\[-])")

# Chosen on planted secrets and real commits (tests/benchmarks/planted.py, refusals.py).
LEAST_TOKEN, LEAST_PASSWORD = 16, 6

TRAILING = ".,;:)*_]}\\"
"""Signs after a value that do not belong to it."""

DATE = lazy_pattern(r"(?:19|20)\d\d[01]\d")

_UUID = lazy_pattern(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")


def is_token(value: str) -> bool:
    """Return whether a value that a name announces is a random token."""
    return len(value) >= LEAST_TOKEN and bool(_UUID.fullmatch(value) or is_random(value))


def find_each(text: str, word: str) -> Iterator[int]:
    """Yield the positions of a word in a text; much faster than a pattern of many words."""
    at = text.find(word)
    for _ in range(MOST):
        if at < 0:
            return
        yield at
        at = text.find(word, at + len(word))


def find_in_urls(text: str) -> Iterator[SecretPlace]:
    """Find passwords and tokens before the host of a URL."""
    for at in find_each(text, "://"):
        match = _USERINFO.match(text, at)
        bare = None if match else _BARE_USERINFO.match(text, at)
        if bare and not is_placeholder(bare[1]) and is_random(bare[1]):
            yield SecretPlace(URL, *bare.span(1))
        if match is None:
            continue
        user, value = match[1], match[2]
        if (
            len(value) >= LEAST_PASSWORD
            and value != user
            and not is_placeholder(value)
            and "/" not in value[:1]
        ):
            yield SecretPlace(URL, *match.span(2))


def find_in_headers(text: str, lower: str) -> Iterator[SecretPlace]:
    """Find credentials after `Bearer` and `Basic`; `lower` is the text in lower case."""
    for word in ("bearer", "basic"):
        for at in find_each(lower, word):
            value = _SCHEME.match(text, at + len(word))
            if value is None or is_placeholder(value[1]):
                continue
            if word == "basic":
                sure = _is_login(value[1])
            else:
                sure = len(value[1]) >= LEAST_TOKEN and is_random(value[1])
            if sure:
                yield SecretPlace(HEADER, *value.span(1))


def _is_login(value: str) -> bool:
    """Return whether base64 encodes a user and a password that is not a placeholder."""
    try:
        from base64 import b64decode  # start-up: few texts have such a header

        decoded = b64decode(value + "=" * (-len(value) % 4), validate=True).decode()
    except (NotBase64, UnicodeDecodeError, ValueError):
        return False
    user, colon, password = decoded.partition(":")
    return bool(colon and user and decoded.isprintable()) and not is_placeholder(password)


_REACH, _BEFORE = 400, 60
"""Characters before a value in which its link begins, and in which a word says that it is a commit."""

_ID = lazy_pattern(
    r"(?:sym|test)-[0-9a-f]{12}"
    r"|[0-9a-f]{7,40}\.{2,3}[0-9a-f]{7,40}"  # a range of commits
    r"|[\w.-]+(?:/[\w.-]+)+@[0-9a-f]{7,40}"  # a commit of a repository
    r"|sha(?:1|256|384|512)[:=-][A-Za-z0-9+/=]{27,}"  # a checksum
)

_HASH = lazy_pattern(r"[0-9a-f]{7,40}|[0-9a-f]{64}")

_COMMIT = lazy_pattern(
    r"(?:(?<![a-z])(?:commits?|committed|revisions?|rev|reverts?|reverted|cherry[- ]?picked|backported|merge[ds]?|rebased|bisected"
    r"|sha-?1?|head|parent|upstream|fixup!?|squash!?|index)(?:[ ](?:in|into|of|at|to|by|from|with|and|id|hash|is|was|as|on))*[ :=]{0,2})[\"'`*_(\[<]{0,3}$",
    2,  # IGNORECASE
)
"""Words of git before the id of a commit."""

_LINE = r"(?::|#L)\d{1,6}(?:-L?\d{1,6})?"

_FILE = lazy_pattern(
    rf"(?:\.{{0,2}}/)?(?:[\w.@+-]+/)+[\w.@+-]*\.[A-Za-z][A-Za-z0-9]{{0,7}}(?:{_LINE})?"  # with a folder
    rf"|[\w@+-][\w.@+-]*\.[A-Za-z]{{1,8}}{_LINE}"  # with a line
)

_TRAILING = "`\"'*_.,;:)]}>"

_EDGE = " \t\r\n`\"'<>()[]|"

_PARTS = frozenset("/.#-")
"""Signs between the parts of a path, which a link to a note or a file has."""


def is_cited(text: str, place: SecretPlace) -> bool:
    """Return whether a value is the id of a symbol or a commit, a file, or in the target of a link."""
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
    return _is_in_link(text, start, word, at)


def _is_in_link(text: str, start: int, word: str, at: int) -> bool:
    """Return whether a place in a word that starts at `start` belongs to the target of a link."""
    scheme = word.find("://")
    if scheme >= 0:
        return not scheme < at <= word.find("/", scheme + 3)  # a login may stand before the host
    if text.endswith("](", 0, start):
        return bool(_PARTS.intersection(word))
    opened = text.rfind("[[", max(0, start - _REACH), start)
    if opened < 0 or any(mark in text[opened:start] for mark in ("]]", "\n")):
        return False
    return bool(_PARTS.intersection(word) or _HASH.fullmatch(word))
