"""Inline fields: lines such as `- key:: value, [[note]]`, in the notation of Dataview."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from itertools import islice
from operator import attrgetter
from typing import NamedTuple

from memory_bank.notes.inline_parser import Span
from memory_bank.notes.inline_text import InlineText
from memory_bank.notes.relations import as_type

MARK = "::"
"""A text without it has no fields."""
MAX_FIELDS = 100_000
"""Limit for one note, enough for 10,000 observations; further fields are read as text."""
_LONGEST = 300
"""Maximum number of characters of a value."""
_MAX_VALUES = 200
"""Maximum number of values of one field."""

_FIELD = re.compile(
    r"^[ \t]*(?:\[.\][ \t]+)?[*_~]*([^\W\d_][\w /-]{0,39})[*_~]*::[*_~]*(?=\s|\[|\Z)", re.MULTILINE
)
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")


class Field(NamedTuple):
    """A field of a line: its key in lower case with underscores, and its values."""

    row: int
    """Index of its line in the inline block."""
    key: str
    values: tuple[str, ...]
    """Split at commas outside of links and code; a link is its target."""


def fields_of(inline: InlineText) -> Iterator[Field]:
    """Yield the fields of an inline block, in the order of its lines."""
    text = inline.text
    if MARK not in text:
        return
    row = seen = covered = at = 0
    for found in _FIELD.finditer(text):
        start, end = found.start(1), text.find("\n", found.end())
        while at < len(inline.spans) and inline.spans[at].start <= start:
            covered = max(covered, inline.spans[at].end)
            at += 1
        if start < covered:
            continue  # inside of code that spans lines
        row += text.count("\n", seen, start)
        seen = start
        values = _values(inline, found.end(), len(text) if end < 0 else end)
        yield Field(row, as_type(found[1]), tuple(islice(values, _MAX_VALUES)))


def _values(inline: InlineText, start: int, end: int) -> Iterator[str]:
    """Yield the values between two offsets that are not empty."""
    value = ""
    for text, whole in _parts(inline, start, end):
        if whole:
            value += text
            continue
        *before, last = _ESCAPE.sub(_kept, text).split(",")
        for part in before:
            if found := (value + part).strip():
                yield found.replace("\0", ",")[:_LONGEST]
            value = ""
        value += last
    if found := value.strip():
        yield found.replace("\0", ",")[:_LONGEST]


def _kept(found: re.Match[str]) -> str:
    """Return the character that a backslash escapes; NUL stands for a comma."""
    return "\0" if found[1] == "," else found[1]


def _parts(inline: InlineText, start: int, end: int) -> Iterator[tuple[str, bool]]:
    """Yield the texts between two offsets, and whether each is a link or code as a whole."""
    at = start
    place = attrgetter("start")
    first = bisect_left(inline.spans, start, key=place)
    for span in inline.spans[first : bisect_left(inline.spans, end, key=place)]:
        if span.start >= at and span.end <= end:
            yield inline.text[at : span.start], False
            yield _shown(inline.text, span), True
            at = span.end
    yield inline.text[at:end], False


def _shown(text: str, span: Span) -> str:
    """Return a link's target, the text of code, and anything else unchanged."""
    if span.kind in ("wiki", "markdown"):
        return text[slice(*span.target)].strip() or text[slice(*span.shown)]
    return text[slice(*span.shown)] if span.kind in ("code", "url") else text[span.start : span.end]
