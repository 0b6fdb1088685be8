"""Where a Markdown text has code: blocks, fences left out, and spans between backticks."""

from __future__ import annotations

from collections.abc import Iterator

from memory_bank.notes.blocks import Blocks, InlineBlock, parse_blocks
from memory_bank.notes.inline_parser import scan


def code_spans(text: str) -> list[tuple[int, int]]:
    """Return the start and end of each piece of code, in order; none in a text that is too large.

    The language that is named behind a fence is not code: readers don't see it.
    """
    blocks = parse_blocks(text)
    ends = [*blocks.starts, len(text)]
    found = [
        (ends[min(first, len(ends) - 1)], ends[min(end, len(ends) - 1)])
        for first, end in blocks.code
    ]
    lines = blocks.source.split("\n") if any(_has_code(one) for one in blocks.inline_blocks) else []
    for one in blocks.inline_blocks:
        if _has_code(one):
            found += _in_row(one, blocks, lines) if one.row else _in_paragraph(one, blocks, text)
    return sorted(found)


def _has_code(inline_block: InlineBlock) -> bool:
    return any("`" in cell for cell in inline_block.cells)


def _in_paragraph(one: InlineBlock, blocks: Blocks, text: str) -> Iterator[tuple[int, int]]:
    """Yield the code of a paragraph or heading; marks of quotes and lists have no backticks."""
    after = one.line + one.cells[0].count("\n") + 1
    start = blocks.starts[one.line]
    end = blocks.starts[after] if after < len(blocks.starts) else len(text)
    yield from _spans(text[start:end], start)


def _in_row(one: InlineBlock, blocks: Blocks, lines: list[str]) -> Iterator[tuple[int, int]]:
    """Yield the code in the cells of a table's row; code does not go on in the next cell."""
    line, at = lines[one.line], 0
    for cell in one.cells:
        written = cell.replace("|", r"\|")
        column = line.find(written, at)
        if column >= 0:
            yield from _spans(written, blocks.starts[one.line] + column)
            at = column + len(written)


def _spans(text: str, start: int) -> Iterator[tuple[int, int]]:
    return ((start + one.start, start + one.end) for one in scan(text) if one.kind == "code")
