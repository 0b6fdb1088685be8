"""Find where an inline block's text stands in the file, between marks and line ends."""

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
    """A link reference definition's destination as it is written, and its offset in the text."""

    written: str
    offset: int


def definitions(blocks: Blocks) -> Mapping[str, Definition]:
    """Find the destinations of the link reference definitions, by label."""
    if not blocks.definitions:
        return {}
    lines = blocks.source.split("\n")
    found = {}
    for label, (first, end) in blocks.definitions.items():
        text = "\n".join(lines[first:end])
        if goal := _DEFINITION.search(text):
            start = goal.start(1)
            column = start - (text.rfind("\n", 0, start) + 1)
            offset = blocks.starts[first + text.count("\n", 0, start)] + column
            found[label] = Definition(goal[1], offset)
    return found


class SourceMap:
    """Where the lines and cells of one inline block stand in the text."""

    def __init__(self, inline_block: InlineBlock, blocks: Blocks, lines: list[str]) -> None:
        """Take the blocks of an inline block, and the lines of their source."""
        self.inline_block = inline_block
        self.runs: list[list[tuple[int, int]]] = []
        """For each cell, offsets in it from which the text is the same, and where: -1 nowhere."""
        if inline_block.row:
            self._add_cells(blocks.starts[inline_block.line], lines[inline_block.line])
        else:
            end = inline_block.line + inline_block.cells[0].count("\n") + 1
            self._add_lines(blocks.starts[inline_block.line : end], lines[inline_block.line : end])

    def offset(self, cell: int, at: int) -> int | None:
        """Turn an offset in a cell into one in the text, where there is a link."""
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
            # A cell with a bracket isn't part of one without, so that skipping those is safe.
            column = line.find(cell.replace("|", r"\|"), at) if "[" in cell else -1
            self.runs.append([(0, base + column if column >= 0 else -1)])
            at = max(at, column + 1)

    def _add_lines(self, starts: Iterable[int], lines: Iterable[str]) -> None:
        runs = []
        begin = 0
        for part, base, line in zip(
            self.inline_block.cells[0].split("\n"), starts, lines, strict=False
        ):
            # The parser writes tabs of an indentation as spaces. Rightmost, since nothing with a
            # bracket follows the text in its line.
            text = part.lstrip(" \t")
            column = line.rfind(text)
            runs.append((begin + len(part) - len(text), base + column if column >= 0 else -1))
            begin += len(part) + 1
        self.runs.append(runs)
