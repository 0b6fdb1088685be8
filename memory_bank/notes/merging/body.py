"""Merge two changes of a text: by sections, which their heading paths name, and by lines in each.

Headings, items and fences are found by their lines. What is wrong after all is left as one
conflict: the lines are counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from memory_bank.base import NamedTuple, lazy_pattern
from memory_bank.notes.merging.conflicts import (
    ConflictingChange,
    Lines,
    Part,
    ThreeWay,
    count_common_start,
    merge_order,
    yield_conflict,
)
from memory_bank.notes.note_change import align_runs

_HEADING = lazy_pattern(r" {0,3}(#{1,6})(?:[ \t\r]|\Z)")

_ITEM = lazy_pattern(r"[ \t]*(?:[-*+]|[0-9]{1,9}[.)])(?:[ \t]|\r?$)")

_FENCE = lazy_pattern(r" {0,3}(`{3,}|~{3,})(.*)")

_MOST_SECTIONS = 2_000
"""A note with more sections is one conflict, which git may merge by lines: a plain choice."""


def is_blank(line: str) -> bool:
    """Return whether a line has white space only."""
    return not line or line.isspace()


def parse_heading(line: str) -> tuple[int, str] | None:
    """Return the level and the text of the heading that a line is, `#` to `######`."""
    match = _HEADING.match(line) if "#" in line[:4] else None
    return (len(match[1]), line[match.end() :].strip(" \t\r#")) if match else None


def is_row(line: str) -> bool:
    """Return whether a line stands for itself: an item of a list, or a row of a table."""
    return bool(_ITEM.match(line)) or line.lstrip().startswith("|")


def says_something(line: str) -> bool:
    """Return whether a line has a letter or digit, and is no fence of code."""
    return not _FENCE.match(line) and any(map(str.isalnum, line))


def mark_code(lines: Lines) -> list[bool]:
    """Return of each line, and of the end, whether a fence of code is open before it."""
    fence = ""
    inside = [False]
    for line in lines:
        match = _FENCE.match(line) if "```" in line or "~~~" in line else None
        if match and not fence:
            fence = match[1] if match[1][0] == "~" or "`" not in match[2] else ""
        elif match and match[1].startswith(fence) and is_blank(match[2]):
            fence = ""
        inside.append(bool(fence))
    return inside


def is_balanced(base: Lines, ours: Lines, theirs: Lines, parts: Sequence[Part]) -> bool:
    """Return whether each line that says something is there as often as the two changes make it.

    A line that one side added or removed counts once more or less; one that both removed may count
    for one or for both, and one that both added, which is no heading, counts for one.
    """
    old, mine, its = _count_lines(base), _count_lines(ours), _count_lines(theirs)
    sure, maybe = _count_lines(part for part in parts if isinstance(part, str)), Counter[str]()
    for part in parts:
        if isinstance(part, ConflictingChange):
            maybe += _count_lines(part.ours) | _count_lines(part.theirs)
    for line in old | mine | its:
        added = mine[line] + its[line] - old[line]
        most = max(mine[line], its[line])
        if old[line] or (base and parse_heading(line)):
            most = max(added, min(mine[line], its[line]))
        if sure[line] > most:
            return False
        if sure[line] + maybe[line] < min(added, max(mine[line], its[line])):
            return False
    return True


def _count_lines(lines: Iterable[str]) -> Counter[str]:
    """Count the lines that say something."""
    return Counter(line for line in lines if says_something(line))


class _Change(NamedTuple):
    """A change of one side: the lines `start` to `end` of the base become `lines`."""

    start: int
    end: int
    lines: Lines
    is_ours: bool


def _list_changes(base: Lines, new: Lines, *, is_ours: bool) -> list[_Change]:
    return [
        _Change(run.start, run.end, new[run.other_start : run.other_end], is_ours)
        for run in align_runs(base, new)
        if run.kind == "replaced"
    ]


def merge_lines(base: Lines, ours: Lines, theirs: Lines) -> list[Part]:
    """Return the lines with the changes of both sides.

    Changes that touch are both made if they are of different blocks of Markdown, and of two
    insertions at the same place both are kept; others are conflicts.
    """
    if theirs in (ours, base):
        return list(ours)
    if ours == base:
        return list(theirs)
    inside, parts, at = mark_code(base), list[Part](), 0
    changes = [
        *_list_changes(base, ours, is_ours=True),
        *_list_changes(base, theirs, is_ours=False),
    ]
    for group in _group_touching(sorted(changes)):
        start, end = group[0].start, max(change.end for change in group)
        mine, its = (
            _apply_changes(base, [change for change in group if change.is_ours is side], start, end)
            for side in (True, False)
        )
        parts += base[at:start]
        resolved: Lines | None = mine if mine == its else None
        if len({change.is_ours for change in group}) == 1:
            resolved = mine if group[0].is_ours else its
        elif resolved is None and not inside[start]:
            resolved = _apply_apart(base, group)
            if resolved is None:
                resolved = _keep_both(base, mine, its, start, end)
        parts += yield_conflict(mine, its, base[start:end]) if resolved is None else resolved
        at = end
    return [*parts, *base[at:]]


def _group_touching(changes: Sequence[_Change]) -> Iterator[list[_Change]]:
    """Yield the changes in groups of those that touch or overlap."""
    group: list[_Change] = []
    for change in changes:
        if group and change.start > max(before.end for before in group):
            yield group
            group = []
        group.append(change)
    yield group


def _apply_changes(base: Lines, changes: Sequence[_Change], start: int, end: int) -> list[str]:
    """Return the lines `start` to `end` with the changes of one side."""
    lines: list[str] = []
    for change in changes:
        lines += [*base[start : change.start], *change.lines]
        start = change.end
    return [*lines, *base[start:end]]


def _apply_apart(base: Lines, group: Sequence[_Change]) -> list[str] | None:
    """Return the lines if no two changes are of the same lines, or of one block."""
    lines, at = [*group[0].lines], group[0].end
    for before, change in pairwise(group):
        if change.start < at or before.start == before.end == change.start == change.end:
            return None
        if change.start == at:
            above = [*base[: group[0].start], *lines][-1:]
            below = [*change.lines, *base[change.end : change.end + 1]][:1]
            apart = _are_separate(base[at - 1 : at], base[at : at + 1]) or change.end == at
            if not (apart and _are_separate(above, below)):
                return None
        lines += [*base[at : change.start], *change.lines]
        at = change.end
    return lines


def _keep_both(base: Lines, mine: Lines, its: Lines, start: int, end: int) -> list[str] | None:
    """Return both texts that the sides added below the lines from `start` to `end`.

    What both begin or end with is there once. None inside of a paragraph, and if they share a line
    besides: then they are two versions of one text.
    """
    size = end - start
    if (
        not list(base[start:end]) == mine[:size] == its[:size]
        or mark_code(mine)[-1]
        or mark_code(its)[-1]
    ):
        return None
    same = count_common_start(mine, its)
    top, first, second = mine[:same], mine[same:], its[same:]
    same = count_common_start(first[::-1], second[::-1])
    bottom = first[len(first) - same :]
    first, second = first[: len(first) - same], second[: len(second) - same]
    above, below = [*base[:start], *top][-1:], [*bottom, *base[end:]][:1]
    if not all(
        _are_separate(above, text[:1]) and _are_separate(text[-1:], below)
        for text in (first, second)
        if text
    ):
        return None
    if _count_lines(first).keys() & _count_lines(second).keys():
        return None
    if not (first and second):
        return [*top, *first, *second, *bottom]
    if is_blank(first[0]) and not is_blank(second[0]):  # it goes on with the list above
        first, second = second, first
    tight = is_row(first[-1]) and is_row(second[0])
    needed = not (tight or is_blank(first[-1]) or is_blank(second[0]))
    return [*top, *first, *_blank_lines(int(needed), first), *second, *bottom]


def _are_separate(above: Sequence[str], below: Sequence[str]) -> bool:
    """Return whether two lines are of different blocks; an empty list is the end of a text."""
    if not above or not below or is_blank(above[0]) or is_blank(below[0]):
        return True
    return bool(parse_heading(above[0]) or parse_heading(below[0])) or is_row(below[0])


def _blank_lines(count: int, lines: Sequence[Part]) -> list[str]:
    is_mixed = any(isinstance(line, str) and line.endswith("\r") for line in lines)
    return ["\r" if is_mixed else ""] * count


Key = tuple[tuple[int, str], ...]
"""The path of a heading: levels and texts, then how often it was there before."""


_Sections = dict[Key, tuple[Lines, int]]
"""The lines from each heading to the next one, and the number of blank ones at their end."""


def merge(base: Lines, ours: Lines, theirs: Lines) -> list[Part]:
    """Return a body with the changes of both sides, ours first, or else one conflict."""
    if theirs in (ours, base):
        return list(ours)
    if ours == base:
        return list(theirs)
    sides = ThreeWay(*map(_split_sections, (base, ours, theirs)))
    if _are_comparable(sides):
        for first, second in ((sides.ours, sides.theirs), (sides.theirs, sides.ours)):
            order = merge_order([*sides.base], [*first], [*second])
            merged = {
                key: lines for key in order if (lines := _merge_section(key, sides)) is not None
            }
            parts = list(_join_parts(merged, sides))
            if _is_nested(merged) and is_balanced(base, ours, theirs, parts):
                return parts
    return list(yield_conflict(ours, theirs, base))


def _are_comparable(sides: ThreeWay[_Sections]) -> bool:
    """Return whether headings name sections: none is repeated more often on one side."""
    counts = [Counter(key[:-1] for key in side) for side in sides]
    in_all = sides.base.keys() & sides.ours.keys() & sides.theirs.keys()
    base, ours, theirs = ([key for key in side if key in in_all] for side in sides)
    are_both_moved = base not in (ours, theirs) and ours != theirs
    is_as_often = all(
        len({count[path] for count in counts} - {0}) == 1 for count in counts for path in count
    )
    return is_as_often and not are_both_moved and max(map(len, sides)) <= _MOST_SECTIONS


def _split_sections(lines: Lines) -> _Sections:
    sections: dict[Key, list[str]] = {(): []}
    path, key, counts = Key(), Key(), Counter[Key]()
    for line, is_code in zip(lines, mark_code(lines), strict=False):
        head = None if is_code else parse_heading(line)
        if head is not None:
            path = (*(above for above in path if above[0] < head[0]), head)
            key = (*path, (counts[path], ""))
            counts[path] += 1
            sections[key] = []
        sections[key].append(line)
    return {key: _strip_end(lines) for key, lines in sections.items()}


def _strip_end(lines: Lines) -> tuple[Lines, int]:
    end = len(lines)
    while end and is_blank(lines[end - 1]):
        end -= 1
    return lines[:end], len(lines) - end


def _merge_section(key: Key, sides: ThreeWay[_Sections]) -> list[Part] | None:
    """Return the lines of a section; None if a side removed it, and the other left it alone."""
    base, ours, theirs = (side[key][0] if key in side else None for side in sides)
    if base in (ours, theirs):
        changed = theirs if base == ours else ours
        return None if changed is None else [*changed]
    if ours is None or theirs is None:
        return list(yield_conflict(ours or (), theirs or (), base or ()))
    if base is None and not (set(ours) <= set(theirs) or set(theirs) <= set(ours)):
        return list(yield_conflict(ours, theirs))
    return merge_lines(base or (), ours, theirs)


def _is_nested(keys: Iterable[Key]) -> bool:
    """Return whether each heading is below the headings of its path."""
    path: Key = ()
    for key in keys:
        if key:
            head = key[-2]
            path = (*(above for above in path if above[0] < head[0]), head)
            if path != key[:-1]:
                return False
    return True


def _join_parts(merged: dict[Key, list[Part]], sides: ThreeWay[_Sections]) -> Iterator[Part]:
    """Yield the lines of the sections, and the blank ones between them."""
    last_keys = [next(reversed(side)) for side in sides]
    last = next(reversed(merged), None)
    for key, lines in merged.items():
        yield from lines
        counts = [side[key][1] if key in side else None for side in sides]
        base, ours, theirs = counts
        count = theirs if ours == base else ours if theirs == base else None
        if count is None:
            count = max(blanks for blanks in counts if blanks is not None)
        tight = any(
            blanks == 0 and end != key for blanks, end in zip(counts, last_keys, strict=True)
        )
        yield from _blank_lines(max(count, int(bool(lines) and key != last and not tight)), lines)
