"""Merge two changes of a note's body by sections, which are found by their heading paths."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import partial
from itertools import islice, pairwise
from typing import NamedTuple

from memory_bank.notes.compare.text_diff import share, words_of
from memory_bank.notes.merging import line_merge
from memory_bank.notes.merging.conflicts import (
    ConflictingChange,
    Lines,
    Part,
    ThreeWay,
    conflict,
    count,
)
from memory_bank.notes.merging.line_merge import (
    code,
    heading,
    is_blank,
    is_row,
    may_part,
    says_something,
)


def is_kept(base: Lines, ours: Lines, theirs: Lines, parts: Sequence[Part]) -> bool:
    """Tell whether added lines have the heading that they were added below, and nothing is joined.

    A heading that is not there any more counts as renamed. Lines below a conflict are not checked.
    """
    return _stay_below(base, ours, theirs, parts) and _stay_apart(base, ours, theirs, parts)


def _stay_below(base: Lines, ours: Lines, theirs: Lines, parts: Sequence[Part]) -> bool:
    old, there = set(base), set(parts)
    lines: dict[str, str | None] = {}
    for side in (ours, theirs):
        often = Counter(side)
        for line, above in _headings(side):
            if line not in old and often[line] == 1 and not is_blank(line):
                lines[line] = above if line not in lines else None
    return all(
        lines.get(line) in {None, above} or lines[line] not in there
        for line, above in _headings(parts)
    )


def _headings(parts: Sequence[Part]) -> Iterator[tuple[str, str | None]]:
    """Yield each line of text with the heading above it; None below a conflict."""
    inside, _ = code([part if isinstance(part, str) else "" for part in parts])
    above: str | None = ""
    for part, is_code in zip(parts, inside, strict=True):
        if not isinstance(part, str):
            above = None
        elif not is_code and heading(part):
            above = part
        elif above is not None:
            yield part, above


def _stay_apart(base: Lines, ours: Lines, theirs: Lines, parts: Sequence[Part]) -> bool:
    """Tell whether lines that are one paragraph now were so before."""
    pairs = {pair for side in (base, ours, theirs) for pair in pairwise(side)}
    inside, _ = code([part if isinstance(part, str) else "" for part in parts])
    return all(
        may_part(above, below) or inside[number] or (above, below) in pairs
        for number, (above, below) in enumerate(pairwise(parts))
        if isinstance(above, str) and isinstance(below, str)
    )


def joins_versions(base: Lines, ours: Lines, theirs: Lines, parts: Sequence[Part]) -> bool:
    """Tell whether two texts that the sides put under one new heading are both in the result.

    Items and rows may be, unless two are alike: they are versions of one.
    """
    keys = {section.key for section in _sections(base)}
    mine, its = (
        {
            current_section.key: dict.fromkeys(filter(says_something, current_section.lines[1:]))
            for current_section in _sections(side)
        }
        for side in (ours, theirs)
    )
    there = {part for part in parts if isinstance(part, str)}
    for key in (mine.keys() & its.keys()) - keys:
        current_ours, other_theirs = (
            [line for line in side[key] if line not in else_[key] and line in there]
            for side, else_ in ((mine, its), (its, mine))
        )
        rows = (
            all(map(is_row, (*current_ours, *other_theirs)))
            and len(current_ours) * len(other_theirs) <= _MOST_COMPARED
        )
        if current_ours and other_theirs and not (rows and _unlike(current_ours, other_theirs)):
            return True
    return False


def _unlike(ours: Lines, theirs: Lines) -> bool:
    words = [[words_of(line) for line in side] for side in (ours, theirs)]
    return all(share(word, other_word) < _ALIKE for word in words[0] for other_word in words[1])


_ALIKE = 0.6
"""Share of words in common from which two items are versions of one."""

_MOST_COMPARED = 10_000

_MOST_SECTIONS = 2_000
"""Notes with more sections are merged by lines only."""

Key = tuple[str, ...]

_Merge = Callable[[Lines, Lines, Lines], list[Part]]


class _Section(NamedTuple):
    """The lines from a heading to the next one."""

    key: Key
    """Its heading path; a heading that repeats has a number besides."""
    lines: list[str]


def merge(base: Lines, ours: Lines, theirs: Lines) -> list[Part]:
    """Return a body with the changes of both sides.

    Sections that all three have are merged one by one, also where one side moved them. What is
    between them is merged by lines. If a line would be lost, repeated or in another section, all is
    merged by lines, then as git does; if that repeats a line too, all is a conflict. All is merged
    by lines also where that leaves fewer conflicts.
    """
    if base in (ours, theirs) or ours == theirs:
        return line_merge.merge(base, ours, theirs)
    entries: list[list[Part]] = []
    for merged in (_sectioned, line_merge.merge):
        entries += islice(_kept(merged, base, ours, theirs), 1)
        if entries and not count(entries[-1]):
            return entries[-1]
    entries += (
        [] if entries else _kept(partial(line_merge.merge, touching=False), base, ours, theirs)
    )
    return min(entries, key=count, default=list(conflict(ours, theirs, base)))


def _kept(merged: _Merge, base: Lines, ours: Lines, theirs: Lines) -> Iterator[list[Part]]:
    """Yield the body, ours first, then theirs first, if that loses, repeats and moves no line."""
    for is_swapped in (False, True):
        parts = merged(base, theirs, ours) if is_swapped else merged(base, ours, theirs)
        if is_swapped:
            parts = [
                part.swapped() if isinstance(part, ConflictingChange) else part for part in parts
            ]
        if (
            line_merge.is_balanced(base, ours, theirs, parts)
            and is_kept(base, ours, theirs, parts)
            and not joins_versions(base, ours, theirs, parts)
        ):
            yield parts


def _sectioned(base: Lines, ours: Lines, theirs: Lines) -> list[Part]:
    three = ThreeWay(*(_sections(lines) for lines in (base, ours, theirs)))
    shared = _shared(three)
    if not shared or max(map(len, three)) > _MOST_SECTIONS:
        return line_merge.merge(base, ours, theirs)
    ordered = _in_one_order(three, shared)
    if ordered is None:
        return line_merge.merge(base, ours, theirs)
    chunks = _by_section(ordered, shared)
    if ordered is three or _is_tight(three.base):
        return [part for chunk in chunks for part in chunk]
    return list(_joined(chunks))


_Bodies = ThreeWay[list[_Section]]
"""The sections of the three bodies."""


def _sections(lines: Lines) -> list[_Section]:
    inside, _ = code(lines)
    sections = [_Section((), [])]
    path: list[tuple[int, str]] = []
    counts: Counter[Key] = Counter()
    for number, line in enumerate(lines):
        head = None if inside[number] else heading(line)
        if head is not None:
            path = [(level, text) for level, text in path if level < head.level]
            path.append((head.level, head.text))
            key = tuple(text for _, text in path)
            counts[key] += 1
            sections.append(_Section((*key, f"{counts[key]}"), []))
        sections[-1].lines.append(line)
    return sections


def _shared(three: _Bodies) -> set[Key]:
    """Return the keys that all have, except of headings that not all repeat as often."""
    often = [Counter(section.key[:-1] for section in sections) for sections in three]
    keys = [{section.key for section in sections} for sections in three]
    return {
        key for key in set.intersection(*keys) if len({counted[key[:-1]] for counted in often}) == 1
    }


def _in_one_order(three: _Bodies, shared: set[Key]) -> _Bodies | None:
    """Return the sections in the order of the side that moved some; None if both moved some."""
    orders = [[section.key for section in sections if section.key in shared] for sections in three]
    base, ours, theirs = orders
    if ours == base == theirs:
        return three
    if base == theirs:
        place = {key: number for number, key in enumerate(ours)}
        return ThreeWay(_moved(three.base, place), three.ours, _moved(three.theirs, place))
    place = {key: number for number, key in enumerate(theirs)}
    if base == ours:
        return ThreeWay(_moved(three.base, place), _moved(three.ours, place), three.theirs)
    return ThreeWay(_moved(three.base, place), *three[1:]) if ours == theirs else None


def _moved(sections: Sequence[_Section], place: Mapping[Key, int]) -> list[_Section]:
    """Return the sections in an order; one that has no place stays below that above it."""
    groups: list[list[_Section]] = []
    for section in sections:
        if section.key in place or not groups:
            groups.append([])
        groups[-1].append(section)
    groups.sort(key=lambda group: place.get(group[0].key, -1))
    return [section for group in groups for section in group]


def _by_section(three: _Bodies, shared: set[Key]) -> Iterator[list[Part]]:
    gaps = [_between(sections, shared) for sections in three]
    for (base, head), (ours, our_head), (theirs, their_head) in zip(*gaps, strict=True):
        yield list(_merged_gap(base, ours, theirs))
        if head is not None and our_head is not None and their_head is not None:
            yield list(_merged_section(head.lines, our_head.lines, their_head.lines))


def _merged_section(base: Lines, ours: Lines, theirs: Lines) -> Iterator[Part]:
    """Yield the merged lines of a section; the blank lines at its end are merged apart."""
    texts, ends = zip(*map(_ended, (base, ours, theirs)), strict=True)
    yield from line_merge.merge(*texts)
    before, mine, its = ends
    if before in (mine, its):
        yield from mine if before == its else its
    else:
        yield from max(mine, its, key=len)


def _ended(lines: Lines) -> tuple[Lines, Lines]:
    """Split a text before the blank lines at its end."""
    end = len(lines)
    while end and is_blank(lines[end - 1]):
        end -= 1
    return lines[:end], lines[end:]


def _joined(chunks: Iterator[list[Part]]) -> Iterator[Part]:
    """Yield the parts with a blank line above each section that follows a former last one."""
    last: Part = ""
    for chunk in chunks:
        if chunk and isinstance(last, str) and not is_blank(last):
            yield "\r" if last.endswith("\r") else ""
        yield from chunk
        last = chunk[-1] if chunk else last


def _is_tight(sections: Sequence[_Section]) -> bool:
    """Tell whether a heading follows a line of text without a blank line between."""
    return any(section.lines and not is_blank(section.lines[-1]) for section in sections[:-1])


def _between(
    sections: Sequence[_Section], shared: set[Key]
) -> Iterator[tuple[list[_Section], _Section | None]]:
    """Yield each shared section with those above it, which are not; at the end, the rest."""
    others_sections: list[_Section] = []
    for section in sections:
        if section.key in shared:
            yield others_sections, section
            others_sections = []
        else:
            others_sections.append(section)
    yield others_sections, None


def _merged_gap(
    base: Sequence[_Section], ours: Sequence[_Section], theirs: Sequence[_Section]
) -> Iterator[Part]:
    if base or not ours or not theirs:
        yield from line_merge.merge(_lines(base), _lines(ours), _lines(theirs))
        return
    keys = [[section.key for section in side] for side in (ours, theirs)]
    parts: list[Part] = []
    if {key[:-1] for key in keys[0]}.isdisjoint(key[:-1] for key in keys[1]):
        parts += _apart(ours, theirs)
    else:
        matcher = SequenceMatcher(None, keys[0], keys[1], autojunk=False)
        for kind, start, end, other_start, other_end in matcher.get_opcodes():
            if kind == "equal":
                for current_section, other_section in zip(
                    ours[start:end], theirs[other_start:other_end], strict=True
                ):
                    joined = line_merge.merge([], current_section.lines, other_section.lines)
                    if joins_versions((), current_section.lines, other_section.lines, joined):
                        joined = list(conflict(current_section.lines, other_section.lines))
                    parts += joined
            else:
                parts += _apart(ours[start:end], theirs[other_start:other_end])
    mine, its = _lines(ours), _lines(theirs)
    yield from conflict(mine, its) if line_merge.is_repeated(mine, its, parts) else parts


def _apart(ours: Sequence[_Section], theirs: Sequence[_Section]) -> Iterator[Part]:
    """Yield new sections of one side below those of the other, with a blank line between."""
    yield from (mine := _lines(ours))
    its = _lines(theirs)
    if mine and its and not is_blank(mine[-1]):
        yield "\r" if mine[-1].endswith("\r") else ""
    yield from its


def _lines(sections: Sequence[_Section]) -> list[str]:
    return [line for section in sections for line in section.lines]
