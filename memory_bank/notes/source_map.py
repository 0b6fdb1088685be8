"""Map offsets in inline blocks to offsets in the source text."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from operator import itemgetter
from typing import NamedTuple

from memory_bank.notes.blocks import Blocks, InlineBlock

_DEFINITION = re.compile(
    r"\[(?:[^\[\]\\]|\\.)++\]:[ \t]*(?:\n[ \t>]*)?(<[^<>\n]*>|[^ \t\n<][^ \t\n]*)", re.DOTALL
)


class Definition(NamedTuple):
    """The destination of a link reference definition as written, and its offset in the text."""

    written: str
    offset: int


def definitions(blocks: Blocks) -> Mapping[str, Definition]:
    """Return the destinations of the link reference definitions, by label."""
    if not blocks.definitions:
        return {}
    lines = blocks.source.split("\n")
    found = {}
    for label, (first, end) in blocks.definitions.items():
        text = "\n".join(lines[first:end])
        if destination := _DEFINITION.search(text):
            start = destination.start(1)
            column = start - (text.rfind("\n", 0, start) + 1)
            offset = blocks.starts[first + text.count("\n", 0, start)] + column
            found[label] = Definition(destination[1], offset)
    return found


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
