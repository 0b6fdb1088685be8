"""Keep both of two texts that were inserted at the same place, if they are blocks of their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from memory_bank.notes.merging.markdown_lines import (
    blocks,
    code,
    heading,
    is_row,
    may_part,
    says_something,
)

_MOST_BLOCKS = 2_000
"""More inserted blocks than that are not compared with each other."""


class _Block(NamedTuple):
    """Lines that belong together, and how many blank lines are above them."""

    lines: tuple[str, ...]
    gap: int


class _Inserted(NamedTuple):
    """One inserted text: its blocks, and how many blank lines are below them."""

    blocks: tuple[_Block, ...]
    tail: int


def both(
    ours: Sequence[str], theirs: Sequence[str], above: str | None, below: str | None
) -> list[str] | None:
    """Return the lines of both texts, equal blocks once; None if that would be wrong.

    It is wrong inside a paragraph, and if the texts share a line but not its block: then they are
    two versions of one text. `above` and `below` are the lines around; None is the end of the text.
    """
    first, second = _read(ours), _read(theirs)
    if first is None or second is None:
        return None
    if not first.blocks or not second.blocks:
        return _with_blanks(ours, theirs, first, second)
    if not all(_fits(one, above, below) for one in (first, second)):
        return None
    if second.blocks[0].gap < first.blocks[0].gap:  # it continues the list above
        first, second = second, first
    order = _woven(first.blocks, second.blocks)
    if order is None:
        return None
    blank = "\r" if any(line.endswith("\r") for line in (*ours, *theirs)) else ""
    return _joined(order, max(first.tail, second.tail), blank)


def _read(lines: Sequence[str]) -> _Inserted | None:
    """Return the blocks of a text; None if a fence of code is not closed."""
    if code(lines)[1]:
        return None
    found: list[_Block] = []
    at = 0
    for start, end in blocks(lines):
        found.append(_Block(tuple(lines[start:end]), start - at))
        at = end
    return _Inserted(tuple(found), len(lines) - at)


def _with_blanks(
    ours: Sequence[str], theirs: Sequence[str], first: _Inserted, second: _Inserted
) -> list[str]:
    """Return the text that has words, if one has, with as many blank lines as either below it."""
    if not first.blocks and not second.blocks:
        return list(ours if len(ours) >= len(theirs) else theirs)
    text, blank, tail = (ours, theirs, first.tail) if first.blocks else (theirs, ours, second.tail)
    return [*text, *blank[tail:]]


def _fits(one: _Inserted, above: str | None, below: str | None) -> bool:
    """Tell whether a text stays apart from the lines around it when others come between."""
    first, last = one.blocks[0], one.blocks[-1]
    starts = first.gap > 0 or may_part(above, first.lines[0])
    ends = one.tail > 0 or may_part(last.lines[-1], below)
    return starts and ends


def _woven(ours: Sequence[_Block], theirs: Sequence[_Block]) -> list[tuple[_Block, bool]] | None:
    """Return the blocks in order, each with whether it comes from another text than that above."""
    if len(ours) + len(theirs) > _MOST_BLOCKS:
        return None
    matcher = SequenceMatcher(
        None, [one.lines for one in ours], [one.lines for one in theirs], autojunk=False
    )
    order: list[tuple[_Block, bool]] = []
    mine: list[_Block] = []
    its: list[_Block] = []
    for kind, start, end, other_start, other_end in matcher.get_opcodes():
        order += [(block, False) for block in ours[start:end]]
        if kind != "equal":
            added = theirs[other_start:other_end]
            join = end > start
            order += [(block, join and not number) for number, block in enumerate(added)]
            mine += ours[start:end]
            its += added
    return None if _shared(mine, its) else order


def _shared(ours: Sequence[_Block], theirs: Sequence[_Block]) -> bool:
    """Tell whether blocks that only ours and only theirs have share a line of words."""
    words = {line for block in ours for line in _lines(block)}
    return any(line in words for block in theirs for line in _lines(block))


def _lines(block: _Block) -> Iterator[str]:
    return (line.strip() for line in block.lines if says_something(line))


def _joined(order: Sequence[tuple[_Block, bool]], tail: int, blank: str) -> list[str]:
    lines: list[str] = []
    last: _Block | None = None
    for block, joins in order:
        gap = block.gap
        if last is not None:
            tight = is_row(block.lines[0]) and (is_row(last.lines[0]) or heading(last.lines[-1]))
            needed = not may_part(last.lines[-1], block.lines[0]) or (joins and not tight)
            gap = max(gap, int(bool(needed)))
        lines += [blank] * gap
        lines += block.lines
        last = block
    return lines + [blank] * tail
