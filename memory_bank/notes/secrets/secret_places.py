"""Places of secrets in a text: in URLs and headers, after a label, and those of the data file.

What is only cited is none.
"""

from __future__ import annotations

import re
from binascii import Error as NotBase64
from collections.abc import Iterable, Iterator
from functools import cache

from memory_bank.base import NamedTuple, lazy_pattern
from memory_bank.notes.secrets.placeholders import (
    is_chosen,
    is_generated,
    is_placeholder,
    is_random,
    read_table,
)


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


_AROUND = 400
"""Characters before and after the text of a place that its pattern may match."""

_VALUE = lazy_pattern(r"""[!#-&(-;=?-_a-{}~]{4,200}""")
"""Printable ASCII without quotes, blanks, `<`, `>` and `|`."""


@cache
def _labels() -> tuple[tuple[str, bool, int, re.Pattern[str]], ...]:
    """Return the words for secrets in all languages.

    Each comes with whether it means a password, the most letters that it may have besides, and what
    may stand between it and its value.
    """
    labels = []
    for row in read_table()["labels"]:
        verbs = "|".join(map(re.escape, row["verbs"]))
        verbs = rf"(?:{verbs})" if row.get("attached") else rf"\b(?:{verbs})\b"
        gap = lazy_pattern(
            rf"\w{{0,{row['ending']}}}"
            r"[\"'`*_\])}】」]{0,4}"
            r"(?:[ ]?[(（][^()（）\n]{1,40}[)）])?"
            rf"(?:[ ](?!{verbs}[ :：])[^\W\d_]{{1,16}}){{0,3}}"
            rf"(?:(?P<sign>[ ]?[:：=＝→–—][*_]{{0,2}}|(?=[「『«“])|[ ]->|[ ]-(?=[ ])|[ ]?{verbs}[ ]?[:：]?)"
            r"|(?=[ ]\S{8}))"
            r"[ \t]{0,4}[\"'`*_“«「『（(]{0,4}",
            re.IGNORECASE,
        )
        labels += [(word, True, row["ending"], gap) for word in row["passwords"]]
        labels += [(word, False, row["ending"], gap) for word in row["tokens"]]
    return tuple(labels)


@cache
def _places() -> tuple[tuple[str, str, re.Pattern[str], bool], ...]:
    """Return the patterns whose group 1 is a secret, each with its kind before it.

    Behind the kind comes a text in lower case that is always near it; the last is whether only a
    value that looks random is one.
    """
    return tuple(
        (
            row["description"],
            mark,
            lazy_pattern(row["regex"], re.IGNORECASE),
            row.get("drawn", False),
        )
        for row in read_table()["places"]
        for mark in row["keywords"]
    )


def find_labelled(text: str, lower: str) -> Iterator[SecretPlace]:
    """Find values after a label, as in `пароль: …`; `lower` is the text in lower case."""
    for word, is_password, _, between in _labels():
        for start in find_each(lower, word):
            if word.isascii() and lower[max(0, start - 1) : start].isalpha():
                continue
            gap = between.match(text, start + len(word))
            value = _VALUE.match(text, gap.end()) if gap else None
            core = value[0].rstrip(TRAILING) if value else ""
            if gap is None or value is None or not (gap["sign"] or is_generated(core)):
                continue
            if _is_secret(core, password=is_password):
                kind = PASSWORD if is_password else TOKEN
                yield SecretPlace(kind, value.start(), value.start() + len(core))


def _is_secret(value: str, *, password: bool) -> bool:
    """Return whether a value after a label is a password, or a random token."""
    if is_placeholder(value) or "://" in value or "](" in value:
        return False
    if not password and ":" in value:  # `chave: cache:v2:users` is the key of a store
        return False
    if is_token(value):
        return True
    if not password or len(value) < LEAST_PASSWORD:
        return False
    return not DATE.match(value) if value.isdigit() else is_chosen(value.rstrip("!?"), loose=True)


def label_ends(head: str) -> bool | None:
    """Return whether a heading in lower case ends in the word for a password; None in no word."""
    for word, is_password, ending, _ in _labels():
        at = head.rfind(word)
        if at >= 0 and len(head.rstrip(" *`")) - at - len(word) <= ending:
            return is_password
    return None


def find_placed(text: str, lower: str) -> Iterator[SecretPlace]:
    """Find values in the places that the data file describes; `lower` is in lower case."""
    for kind, mark, pattern, is_drawn in _places():
        for start, end in _windows(text, find_each(lower, mark)):
            for match in pattern.finditer(text, start, end):
                if not is_placeholder(match[1]) and (not is_drawn or is_random(match[1])):
                    yield SecretPlace(kind, *match.span(1))


def _windows(text: str, marks: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Yield the parts of a text around marks, without overlaps: each character is in one at most."""
    start = end = -1
    for at in marks:
        if start >= 0 and at <= end:
            end = at + _AROUND
            continue
        if start >= 0:
            yield start, end
        start = max(end, at - _AROUND, text.rfind("\n", 0, at) + 1)
        end = at + _AROUND
    if start >= 0:
        yield start, end
