"""Merge two changes of a text by lines; insertions at one place are both kept if they may be."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from memory_bank.notes.compare.text_diff import runs
from memory_bank.notes.merging.conflicts import ConflictingChange, Lines, Part, conflict


class Hunk(NamedTuple):
    """A change: the lines `start` to `end` of the base become `lines`."""

    start: int
    end: int
    lines: tuple[str, ...]


def hunks(old: Lines, new: Lines) -> list[Hunk]:
    """Return the changes in order; an insertion is as far down as it can be."""
    return _slid(
        old,
        [
            Hunk(run.start, run.end, tuple(new[run.other_start : run.other_end]))
            for run in runs(old, new)
            if run.kind == "replaced"
        ],
    )


def _slid(old: Lines, found_hunks: Sequence[Hunk]) -> list[Hunk]:
    """Return the changes with insertions moved down over equal lines."""
    slid: list[Hunk] = []
    for hunk, following in zip(
        found_hunks, [*found_hunks[1:], Hunk(len(old) + 1, 0, ())], strict=False
    ):
        start, lines = hunk.start, list(hunk.lines)
        if start == hunk.end:
            while start < min(len(old), following.start - 1) and lines[0] == old[start]:
                lines.append(lines.pop(0))
                start += 1
        slid.append(Hunk(start, max(start, hunk.end), tuple(lines)))
    return slid


_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t\r]|\Z)")

_ITEM = re.compile(r"[ \t]*(?:[-*+]|[0-9]{1,9}[.)])(?:[ \t]|\r?$)")

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")


class LineHeading(NamedTuple):
    """A heading of one line."""

    level: int
    text: str


def is_blank(line: str) -> bool:
    """Tell whether a line has white space only."""
    return not line or line.isspace()


def heading(line: str) -> LineHeading | None:
    """Return the heading that a line is, `#` to `######`."""
    match = _HEADING.match(line) if "#" in line[:4] else None
    if match is None:
        return None
    text = line[match.end() :].strip()
    bare = text.rstrip("#")
    return LineHeading(len(match[1]), bare.strip() if not bare or bare[-1].isspace() else text)


def is_row(line: str) -> bool:
    """Tell whether a line stands for itself: an item of a list, or a row of a table."""
    return bool(_ITEM.match(line)) or line.lstrip().startswith("|")


def says_something(line: str) -> bool:
    """Tell whether a line has a letter or digit, and is no fence of code."""
    return not _FENCE.match(line) and any(map(str.isalnum, line))


def code(lines: Lines) -> tuple[list[bool], bool]:
    """Tell of each line whether it follows the start of a fence of code, and if one stays open."""
    fence = ""
    inside: list[bool] = []
    for line in lines:
        inside.append(bool(fence))
        match = _FENCE.match(line) if "```" in line or "~~~" in line else None
        if not match:
            continue
        if not fence:
            fence = match[1] if match[1][0] == "~" or "`" not in match[2] else ""
        elif match[1].startswith(fence) and is_blank(match[2]):
            fence = ""
    return inside, bool(fence)


def may_part(above: str | None, below: str | None) -> bool:
    """Tell whether two lines belong to different blocks; None is the start or end of a text."""
    if above is None or below is None or is_blank(above) or is_blank(below):
        return True
    return bool(heading(above) or heading(below)) or is_row(below)


def blocks(lines: Lines) -> Iterator[tuple[int, int]]:
    """Yield the first line and the end of each block: a paragraph, a row, a heading, a fence."""
    start = None
    inside, _ = code(lines)
    last_is_plain = False
    for number, line in enumerate(lines):
        is_plain = line[:1].isalpha()
        if inside[number] or (is_plain and last_is_plain):
            continue  # a line that starts with a letter goes on with the paragraph above
        last_is_plain = is_plain
        if start is not None and may_part(lines[number - 1], line):
            last = number
            while last > start and is_blank(lines[last - 1]):
                last -= 1
            if last > start:
                yield start, last
            start = None
        if start is None and not is_blank(line):
            start = number
    if start is not None:
        last = len(lines)
        while is_blank(lines[last - 1]):
            last -= 1
        yield start, last


def is_balanced(base: Lines, ours: Lines, theirs: Lines, parts: Sequence[Part]) -> bool:
    """Tell whether each line that says something is there as often as the two changes make it.

    A line that one side added or removed counts once more or less; one that both added or removed
    may count for one or for both, and without a base for one.
    """
    old, mine, its = counted(base), counted(ours), counted(theirs)
    sure, maybe = counted(_outside(parts)), Counter[str]()
    for part in parts:
        if isinstance(part, ConflictingChange):
            maybe += counted(part.ours) | counted(part.theirs)
    for line in old | mine | its:
        added = mine[line] + its[line] - old[line]
        most = max(added, min(mine[line], its[line])) if base else max(mine[line], its[line])
        if sure[line] > most:
            return False
        if sure[line] + maybe[line] < min(added, max(mine[line], its[line])):
            return False
    return True


def is_repeated(ours: Lines, theirs: Lines, parts: Sequence[Part]) -> bool:
    """Tell whether a line of text that both sides added is there more often than in either."""
    mine, its, found_counted = counted(ours), counted(theirs), counted(_outside(parts))
    return any(
        many > max(mine[line], its[line]) and not heading(line)
        for line, many in found_counted.items()
    )


def _outside(parts: Sequence[Part]) -> Iterable[str]:
    return (part for part in parts if isinstance(part, str))


def counted(lines: Iterable[str]) -> Counter[str]:
    """Count the lines that say something."""
    return Counter(line for line in lines if not is_blank(line) and says_something(line))


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


def both(ours: Lines, theirs: Lines, above: str | None, below: str | None) -> list[str] | None:
    """Return the lines of both texts, equal blocks once; None if that would be wrong.

    It is wrong inside a paragraph, and if the texts share a line but not its block: then they are
    two versions of one text. `above` and `below` are the lines around; None is the end of the text.
    """
    first, second = _read(ours), _read(theirs)
    if first is None or second is None:
        return None
    if not first.blocks or not second.blocks:
        return _with_blanks(ours, theirs, first, second)
    if not all(_fits(inserted, above, below) for inserted in (first, second)):
        return None
    if second.blocks[0].gap < first.blocks[0].gap:  # it continues the list above
        first, second = second, first
    order = _woven(first.blocks, second.blocks)
    if order is None:
        return None
    blank = "\r" if any(line.endswith("\r") for line in (*ours, *theirs)) else ""
    return _joined_blocks(order, max(first.tail, second.tail), blank)


def _read(lines: Lines) -> _Inserted | None:
    """Return the blocks of a text; None if a fence of code is not closed."""
    if code(lines)[1]:
        return None
    found_blocks: list[_Block] = []
    at = 0
    for start, end in blocks(lines):
        found_blocks.append(_Block(tuple(lines[start:end]), start - at))
        at = end
    return _Inserted(tuple(found_blocks), len(lines) - at)


def _with_blanks(ours: Lines, theirs: Lines, first: _Inserted, second: _Inserted) -> list[str]:
    """Return the text that has words, if one has, with as many blank lines as either below it."""
    if not first.blocks and not second.blocks:
        return list(ours if len(ours) >= len(theirs) else theirs)
    text, blank, tail = (ours, theirs, first.tail) if first.blocks else (theirs, ours, second.tail)
    return [*text, *blank[tail:]]


def _fits(inserted: _Inserted, above: str | None, below: str | None) -> bool:
    """Tell whether a text stays apart from the lines around it when others come between."""
    first, last = inserted.blocks[0], inserted.blocks[-1]
    starts = first.gap > 0 or may_part(above, first.lines[0])
    ends = inserted.tail > 0 or may_part(last.lines[-1], below)
    return starts and ends


def _woven(ours: Sequence[_Block], theirs: Sequence[_Block]) -> list[tuple[_Block, bool]] | None:
    """Return the blocks in order, each with whether it comes from another text than that above."""
    if len(ours) + len(theirs) > _MOST_BLOCKS:
        return None
    matcher = SequenceMatcher(
        None,
        [current_block.lines for current_block in ours],
        [current_block.lines for current_block in theirs],
        autojunk=False,
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
    return None if _share_words(mine, its) else order


def _share_words(ours: Sequence[_Block], theirs: Sequence[_Block]) -> bool:
    """Tell whether blocks that only ours and only theirs have share a line of words."""
    words = {line for block in ours for line in _words_of(block)}
    return any(line in words for block in theirs for line in _words_of(block))


def _words_of(block: _Block) -> Iterator[str]:
    return (line.strip() for line in block.lines if says_something(line))


def _joined_blocks(order: Sequence[tuple[_Block, bool]], tail: int, blank: str) -> list[str]:
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


class _Change(NamedTuple):
    """A change of one side."""

    hunk: Hunk
    is_ours: bool


def merge(base: Lines, ours: Lines, theirs: Lines, *, touching: bool = True) -> list[Part]:
    """Return the text with the changes of both sides.

    Changes that touch are both made if they are of different blocks of Markdown, and of two
    insertions at the same place both are kept; others are conflicts. Without `touching` all that
    touch are conflicts.
    """
    if theirs in (ours, base):
        return list(ours)
    if ours == base:
        return list(theirs)
    return list(_Lines(base, touching=touching).merged(hunks(base, ours), hunks(base, theirs)))


class _Lines:
    """The text before both changes."""

    def __init__(self, base: Lines, *, touching: bool) -> None:
        self.base = base
        self.touching = touching
        self.inside, self.open = code(base)

    def merged(self, ours: Sequence[Hunk], theirs: Sequence[Hunk]) -> Iterator[Part]:
        changes = [_Change(hunk, True) for hunk in ours]
        changes += [_Change(hunk, False) for hunk in theirs]
        changes.sort(key=lambda change: (change.hunk.start, change.hunk.end))
        at = 0
        for group in _touching(changes):
            yield from self.base[at : group[0].hunk.start]
            at = max(change.hunk.end for change in group)
            yield from self.resolved(group, group[0].hunk.start, at)
        yield from self.base[at:]

    def resolved(self, group: Sequence[_Change], start: int, end: int) -> list[Part]:
        """Return what a group of touching changes makes of the lines `start` to `end`."""
        if len({change.is_ours for change in group}) == 1:
            return list(self.changed(group, start, end))
        ours = self.changed([change for change in group if change.is_ours], start, end)
        theirs = self.changed([change for change in group if not change.is_ours], start, end)
        if ours == theirs:
            return list(ours)
        if not self.touching:
            return list(conflict(ours, theirs, self.base[start:end]))
        apart: Sequence[Part] | None = self.apart(group)
        if apart is None and not self.in_code(start):
            apart = self.together(ours, theirs, start, end)
        if apart is None:
            return list(conflict(ours, theirs, self.base[start:end]))
        return list(apart)

    def changed(self, changes: Sequence[_Change], start: int, end: int) -> list[str]:
        """Return the lines `start` to `end` with the changes of one side."""
        lines: list[str] = []
        for hunk, _ in changes:
            lines += [*self.base[start : hunk.start], *hunk.lines]
            start = hunk.end
        return [*lines, *self.base[start:end]]

    def apart(self, group: Sequence[_Change]) -> list[str] | None:
        """Return the lines if no two changes are of the same lines, or of one block."""
        lines: list[str] = []
        above = self.line(group[0].hunk.start - 1)
        at = group[0].hunk.start
        for number, change in enumerate(group):
            hunk = change.hunk
            base = self.base[at : hunk.start]
            lines += base
            above = lines[-1] if lines else above
            if number and change.is_ours != group[number - 1].is_ours and not base:
                before = group[number - 1].hunk
                both_insert = before.start == before.end == hunk.start == hunk.end
                if hunk.start < at or both_insert or not self.parts(hunk, above):
                    return None
            lines += hunk.lines
            at = hunk.end
        return lines

    def parts(self, hunk: Hunk, above: str | None) -> bool:
        """Tell whether a change starts a block, here and in the text before both."""
        at = hunk.start
        if self.in_code(at):
            return False
        first = hunk.lines[0] if hunk.lines else self.line(hunk.end)
        of_base = at == hunk.end or may_part(self.line(at - 1), self.line(at))
        return of_base and may_part(above, first)

    def together(self, ours: Lines, theirs: Lines, start: int, end: int) -> list[str] | None:
        """Return the lines if both sides made the same of the base, and inserted blocks besides."""
        same_end = end - start
        if len(ours) < same_end or ours[:same_end] != theirs[:same_end]:
            return None
        above = ours[same_end - 1] if same_end else self.line(start - 1)
        entries = both(ours[same_end:], theirs[same_end:], above, self.line(end))
        return None if entries is None else [*ours[:same_end], *entries]

    def in_code(self, number: int) -> bool:
        """Tell whether a line, or what is inserted above it, is in a fence of code."""
        return self.inside[number] if number < len(self.inside) else self.open

    def line(self, number: int) -> str | None:
        return self.base[number] if 0 <= number < len(self.base) else None


def _touching(changes: Sequence[_Change]) -> Iterator[list[_Change]]:
    """Yield the changes in groups of those that touch or overlap."""
    group: list[_Change] = []
    end = -1
    for change in changes:
        if group and change.hunk.start > end:
            yield group
            group = []
        group.append(change)
        end = max(end, change.hunk.end) if len(group) > 1 else change.hunk.end
    if group:
        yield group
