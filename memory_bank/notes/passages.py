"""Split a section into passages of similar size, for ranking and embedding."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from operator import itemgetter

from memory_bank.base import lazy_pattern
from memory_bank.base.documents import Passage, Section
from memory_bank.notes.blocks import Blocks, InlineBlock

_NEWLINE = lazy_pattern(r"\r\n|\r")

_LINE = lazy_pattern(r"[^\n]*\n|[^\n]+\Z")

_FENCE = lazy_pattern(r"[ \t>]*(?:[-*+][ \t]+|\d{1,9}[.)][ \t]+)*(`{3,}(?![^\n]*`)|~{3,})")

# A list item, a table row or a heading starts a block.
_STARTS_BLOCK = lazy_pattern(r"[ \t>]*(?:[-*+][ \t]|\d{1,9}[.)][ \t]|\||#{1,6}[ \t])")

# Sentence end, closing marks and white space; in Chinese and Japanese without white space.
_SENTENCE_END = lazy_pattern(r"[.!?\u2026][)\]\"'\u201d\u2019*_]*\s+|[\u3002\uff01\uff1f]")

SIZE = 400
"""Approximate size of a passage in characters: three or four turns of a talk, or two paragraphs."""

# A section that is longer by up to a quarter stays whole.
_WHOLE = 1.25

# A paragraph up to this many sizes stays whole, since it has one subject.
LONG = 5

# A part of at most this share of the size, such as a heading, is joined with the next part.
_SMALL = 0.25


_Stretch = tuple[int, int]
"""Offsets of text that is not split further."""


def split_passages(section: Section, size: int = SIZE) -> tuple[Passage, ...]:
    """Split a section's text into passages of about `size` characters, at the ends of blocks.

    A section up to a quarter longer is one passage. A block up to five times the size stays whole;
    a longer one is split into lines, and a longer line within. Blank lines around are stripped.
    """
    text = _NEWLINE.sub("\n", section.text)
    if len(text) <= size * _WHOLE:
        parts = [(0, len(text))]
    else:
        parts = list(_join_parts(_yield_parts(text, size), size))
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    return tuple(
        passage for part in parts if (passage := _make_passage(section, text, starts, part))
    )


def _make_passage(section: Section, text: str, starts: list[int], part: _Stretch) -> Passage | None:
    """Return a passage without blank lines around it; None if it is blank."""
    start, end = part
    words = text[start:end]
    stripped = words.lstrip()
    if not stripped:
        return None
    first = bisect_right(starts, end - len(stripped)) - 1
    # Indentation stays, since it may be that of code or of a list.
    start = max(start, starts[first])
    words = text[start:end].rstrip()
    last = bisect_right(starts, start + len(words) - 1) - 1
    return Passage(section.line + first, section.line + last + 1, words)


def _join_parts(parts: Iterator[_Stretch], size: int) -> Iterator[_Stretch]:
    """Join adjacent parts as long as they fit."""
    start = end = 0
    for _, part_end in parts:
        length = part_end - start
        small = end - start < size * _SMALL and length <= size * LONG
        if end > start and length > size and not small:
            yield start, end
            start = end
        end = part_end
    if end > start:
        yield start, end


def _yield_parts(text: str, size: int) -> Iterator[_Stretch]:
    """Yield blocks in order; long ones as lines, long lines in pieces."""
    for start, end in _yield_blocks(text):
        if end - start <= size * LONG:
            yield start, end
            continue
        for line in _LINE.finditer(text, start, end):
            if line.end() - line.start() <= size * LONG:
                yield line.span()
            else:
                yield from _yield_pieces(text, line.start(), line.end(), 2 * size)


def _yield_blocks(text: str) -> Iterator[_Stretch]:
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
                yield start, line.end()
                start = line.end()
            continue
        is_blank = line[0].isspace()
        if line.start() > start and (
            mark or (blank and not is_blank) or _STARTS_BLOCK.match(text, line.start(), line.end())
        ):
            yield start, line.start()
            start = line.start()
        fence = mark[1] if mark else ""
        blank = is_blank
    if start < len(text):
        yield start, len(text)


def _yield_pieces(text: str, start: int, end: int, size: int) -> Iterator[_Stretch]:
    """Split a line after a sentence, else at white space, else anywhere."""
    while end - start > size:
        window = text[start : start + size]
        stop = max((match.end() for match in _SENTENCE_END.finditer(window)), default=0)
        if stop < size * _SMALL:
            stop = max(window.rfind(" "), window.rfind("\t")) + 1
        if stop < size * _SMALL:
            stop = size
        yield start, start + stop
        start += stop
    yield start, end


_DEFINITION = lazy_pattern(
    r"\[(?:[^\[\]\\]|\\.)++\]:[ \t]*(?:\n[ \t>]*)?(<[^<>\n]*>|[^ \t\n<][^ \t\n]*)", re.DOTALL
)


def read_definitions(blocks: Blocks) -> Mapping[str, tuple[str, int]]:
    """Return the destinations of the link reference definitions as written, by label.

    Each has its offset in the text.
    """
    if not blocks.definitions:
        return {}
    lines = blocks.source.split("\n")
    definitions = {}
    for label, (first, end) in blocks.definitions.items():
        text = "\n".join(lines[first:end])
        if destination := _DEFINITION.search(text):
            start = destination.start(1)
            column = start - (text.rfind("\n", 0, start) + 1)
            offset = blocks.starts[first + text.count("\n", 0, start)] + column
            definitions[label] = destination[1], offset
    return definitions


class SourceMap:
    """Map offsets in the cells of one inline block to offsets in the text."""

    def __init__(self, inline_block: InlineBlock, blocks: Blocks, lines: list[str]) -> None:
        """Take an inline block, all blocks, and the lines of their source."""
        self.inline_block = inline_block
        self.runs: list[list[tuple[int, int]]] = []
        """For each cell, start offsets of runs in it and in the text, -1 if not there."""
        if inline_block.row:
            self._add_cells(blocks.starts[inline_block.line], lines[inline_block.line])
        else:
            end = inline_block.line + inline_block.cells[0].count("\n") + 1
            self._add_lines(blocks.starts[inline_block.line : end], lines[inline_block.line : end])

    def offset(self, cell: int, at: int) -> int | None:
        """Return the offset in the text of a link's offset in a cell; None if unknown."""
        runs = self.runs[cell]
        begin, base = runs[max(0, bisect_right(runs, at, key=itemgetter(0)) - 1)]
        if base < 0:
            return None
        escapes = (
            self.inline_block.cells[cell].count("|", begin, at) if self.inline_block.row else 0
        )
        return base + at - begin + escapes

    def _add_cells(self, base: int, line: str) -> None:
        at = 0
        for cell in self.inline_block.cells:
            # Cells without a bracket can be skipped: one with a bracket is never found inside them.
            column = line.find(cell.replace("|", r"\|"), at) if "[" in cell else -1
            self.runs.append([(0, base + column if column >= 0 else -1)])
            at = max(at, column + 1)

    def _add_lines(self, starts: Iterable[int], lines: Iterable[str]) -> None:
        runs = []
        begin = 0
        for part, base, line in zip(
            self.inline_block.cells[0].split("\n"), starts, lines, strict=False
        ):
            # Without indentation, whose tabs the parser writes as spaces. Rightmost, since no
            # bracket follows the text in its line.
            text = part.lstrip(" \t")
            column = line.rfind(text)
            runs.append((begin + len(part) - len(text), base + column if column >= 0 else -1))
            begin += len(part) + 1
        self.runs.append(runs)
