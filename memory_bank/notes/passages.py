"""Split a section into passages of similar size, for ranking and embedding."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from memory_bank.notes.note import Passage, Section

_NEWLINE = re.compile(r"\r\n|\r")
_LINE = re.compile(r"[^\n]*\n|[^\n]+\Z")
_FENCE = re.compile(r"[ \t>]*(?:[-*+][ \t]+|\d{1,9}[.)][ \t]+)*(`{3,}(?![^\n]*`)|~{3,})")
# A list item, a table row or a heading starts a block.
_STARTS_BLOCK = re.compile(r"[ \t>]*(?:[-*+][ \t]|\d{1,9}[.)][ \t]|\||#{1,6}[ \t])")
# Sentence end, closing marks and white space; in Chinese and Japanese without white space.
_SENTENCE_END = re.compile(r"[.!?\u2026][)\]\"'\u201d\u2019*_]*\s+|[\u3002\uff01\uff1f]")

SIZE = 400
"""Approximate size of a passage in characters: three or four turns of a talk, or two paragraphs."""
_WHOLE = 1.25
# A paragraph up to this many sizes stays whole, since it has one subject.
_LONG = 5
# A part of at most this share of the size, such as a heading, is joined with the next part.
_SMALL = 0.25


class _Part(NamedTuple):
    """Offsets of text that is not split further."""

    start: int
    end: int


def passages(section: Section, size: int = SIZE) -> tuple[Passage, ...]:
    """Split a section's text into passages of about `size` characters, at the ends of blocks.

    A section up to a quarter longer is one passage. A block up to five times the size stays whole;
    a longer one is split into lines, and a longer line within. Blank lines around are stripped.
    """
    text = _NEWLINE.sub("\n", section.text)
    if len(text) <= size * _WHOLE:
        parts = [_Part(0, len(text))]
    else:
        parts = list(_joined(_parts(text, size), size))
    starts = [0, *(found.end() for found in re.finditer("\n", text))]
    return tuple(passage for part in parts if (passage := _passage(section, text, starts, part)))


def _passage(section: Section, text: str, starts: list[int], part: _Part) -> Passage | None:
    """Return a passage without blank lines around it; None if it is blank."""
    words = text[part.start : part.end]
    stripped = words.lstrip()
    if not stripped:
        return None
    first = bisect_right(starts, part.end - len(stripped)) - 1
    # Indentation stays, since it may be that of code or of a list.
    start = max(part.start, starts[first])
    words = text[start : part.end].rstrip()
    last = bisect_right(starts, start + len(words) - 1) - 1
    return Passage(section.line + first, section.line + last + 1, words)


def _joined(parts: Iterator[_Part], size: int) -> Iterator[_Part]:
    """Join adjacent parts as long as they fit."""
    start = end = 0
    for part in parts:
        length = part.end - start
        small = end - start < size * _SMALL and length <= size * _LONG
        if end > start and length > size and not small:
            yield _Part(start, end)
            start = end
        end = part.end
    if end > start:
        yield _Part(start, end)


def _parts(text: str, size: int) -> Iterator[_Part]:
    """Yield blocks in order; long ones as lines, long lines in pieces."""
    for block in _blocks(text):
        if block.end - block.start <= size * _LONG:
            yield block
            continue
        for line in _LINE.finditer(text, block.start, block.end):
            if line.end() - line.start() <= size * _LONG:
                yield _Part(*line.span())
            else:
                yield from _pieces(text, line.start(), line.end(), 2 * size)


def _blocks(text: str) -> Iterator[_Part]:
    """Yield paragraphs with the blank lines after them, list items, table rows, fenced code."""
    start = 0
    fence = ""
    blank = False
    for line in _LINE.finditer(text):
        mark = _FENCE.match(text, line.start(), line.end())
        if fence:
            # The closing fence is of the same character, at least as long, and alone.
            if mark and mark[1].startswith(fence) and not text[mark.end() : line.end()].strip():
                fence = ""
                yield _Part(start, line.end())
                start = line.end()
            continue
        now_blank = line[0].isspace()
        if line.start() > start and (
            mark or (blank and not now_blank) or _STARTS_BLOCK.match(text, line.start(), line.end())
        ):
            yield _Part(start, line.start())
            start = line.start()
        fence = mark[1] if mark else ""
        blank = now_blank
    if start < len(text):
        yield _Part(start, len(text))


def _pieces(text: str, start: int, end: int, size: int) -> Iterator[_Part]:
    """Split a line after a sentence, else at white space, else anywhere."""
    while end - start > size:
        window = text[start : start + size]
        stop = max((found.end() for found in _SENTENCE_END.finditer(window)), default=0)
        if stop < size * _SMALL:
            stop = max(window.rfind(" "), window.rfind("\t")) + 1
        if stop < size * _SMALL:
            stop = size
        yield _Part(start, start + stop)
        start += stop
    yield _Part(start, end)
