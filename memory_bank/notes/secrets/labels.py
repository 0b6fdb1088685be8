"""Find values that follow a label in any language, and values in known places, by the data file."""

from __future__ import annotations

import re
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
from memory_bank.notes.secrets.secret_places import (
    DATE,
    LEAST_PASSWORD,
    PASSWORD,
    TOKEN,
    TRAILING,
    SecretPlace,
    find_each,
    is_token,
)

_AROUND = 400
"""Characters before and after the text of a place that its pattern may match."""

_VALUE = lazy_pattern(r"""[!#-&(-;=?-_a-{}~]{4,200}""")
"""Printable ASCII without quotes, blanks, `<`, `>` and `|`."""


class _Label(NamedTuple):
    """The word for a secret in one language, and what may stand between it and its value."""

    word: str
    password: bool
    ending: int
    """Most letters that it may have besides."""
    gap: re.Pattern[str]


class _Place(NamedTuple):
    """A pattern whose group 1 is a secret, and the text in lower case that is always near it."""

    kind: str
    mark: str
    pattern: re.Pattern[str]
    is_drawn: bool
    """Whether only a value that looks random is one."""


@cache
def _labels() -> tuple[_Label, ...]:
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
        labels += [_Label(word, True, row["ending"], gap) for word in row["passwords"]]
        labels += [_Label(word, False, row["ending"], gap) for word in row["tokens"]]
    return tuple(labels)


@cache
def _places() -> tuple[_Place, ...]:
    return tuple(
        _Place(
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
    for label in _labels():
        for start in find_each(lower, label.word):
            if label.word.isascii() and lower[max(0, start - 1) : start].isalpha():
                continue
            end = start + len(label.word)
            gap = label.gap.match(text, end)
            value = _VALUE.match(text, gap.end()) if gap else None
            core = value[0].rstrip(TRAILING) if value else ""
            if gap is None or value is None or not (gap["sign"] or is_generated(core)):
                continue
            if _is_secret(core, password=label.password):
                kind = PASSWORD if label.password else TOKEN
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
    for label in _labels():
        at = head.rfind(label.word)
        if at >= 0 and len(head.rstrip(" *`")) - at - len(label.word) <= label.ending:
            return label.password
    return None


def find_placed(text: str, lower: str) -> Iterator[SecretPlace]:
    """Find values in the places that the data file describes; `lower` is in lower case."""
    for place in _places():
        for start, end in _windows(text, find_each(lower, place.mark)):
            for match in place.pattern.finditer(text, start, end):
                value = match[1]
                if not is_placeholder(value) and (not place.is_drawn or is_random(value)):
                    yield SecretPlace(place.kind, *match.span(1))


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
