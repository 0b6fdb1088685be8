"""Align two sequences, in time nearly linear in their lengths.

Elements that are the same at both ends match; then those that both sequences have once, as long as
they are in the same order (patience diff, by B. Cohen); so on between them. Short runs without such
an element are compared by difflib. All steps are counted: beyond a number for each element, the
rest is said to differ, so that no text can make a comparison slow.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Literal, NamedTuple

_STEPS = 64
"""Steps for each element of both sequences."""
_SMALL = 1024
"""Product of two lengths up to which difflib compares."""


class Run(NamedTuple):
    """A run of elements: the same in both sequences, or replaced (either side may be empty)."""

    kind: Literal["equal", "replaced"]
    start: int
    end: int
    other_start: int
    other_end: int


def runs(before: Sequence[Hashable], after: Sequence[Hashable]) -> list[Run]:
    """Return the runs that make `after` of `before`, in order; equal and replaced alternate."""
    found: list[Run] = []
    i = j = 0
    for start, other, size in _blocks(before, after):
        if i < start or j < other:
            found.append(Run("replaced", i, start, j, other))
        if size:
            found.append(Run("equal", start, start + size, other, other + size))
        i, j = start + size, other + size
    return found


def _blocks(
    before: Sequence[Hashable], after: Sequence[Hashable]
) -> Iterator[tuple[int, int, int]]:
    """Yield starts and sizes of matching blocks, adjacent ones joined; the last has size 0."""
    i = j = size = 0
    for start, other in sorted(_pairs(before, after)):
        if (start, other) == (i + size, j + size):
            size += 1
            continue
        if size:
            yield i, j, size
        i, j, size = start, other, 1
    if size:
        yield i, j, size
    yield len(before), len(after), 0


def _pairs(before: Sequence[Hashable], after: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Return the positions of matching elements."""
    found: list[tuple[int, int]] = []
    steps = _STEPS * (len(before) + len(after))
    ranges = [(0, len(before), 0, len(after))]
    while ranges:
        i, end, j, other_end = ranges.pop()
        while i < end and j < other_end and before[i] == after[j]:
            found.append((i, j))
            i, j = i + 1, j + 1
        while i < end and j < other_end and before[end - 1] == after[other_end - 1]:
            end, other_end = end - 1, other_end - 1
            found.append((end, other_end))
        length, other_length = end - i, other_end - j
        if not length or not other_length:
            continue
        small = length * other_length <= _SMALL
        steps -= length * other_length if small else length + other_length
        if steps < 0:
            continue
        if small:
            found += _compared(before, after, (i, end, j, other_end))
        else:
            anchors = in_order(before[i:end], after[j:other_end])
            found += [(i + one, j + other) for one, other in anchors]
            ranges += _between(anchors, (i, end, j, other_end)) if anchors else []
    return found


def _compared(
    before: Sequence[Hashable], after: Sequence[Hashable], span: tuple[int, int, int, int]
) -> Iterator[tuple[int, int]]:
    i, end, j, other_end = span
    matcher = SequenceMatcher(None, before[i:end], after[j:other_end], autojunk=False)
    for start, other, size in matcher.get_matching_blocks():
        for step in range(size):
            yield i + start + step, j + other + step


def _between(
    anchors: Sequence[tuple[int, int]], span: tuple[int, int, int, int]
) -> Iterator[tuple[int, int, int, int]]:
    """Yield the ranges between anchors."""
    i, end, j, other_end = span
    first, other_first = i, j
    for one, other in anchors:
        yield first, i + one, other_first, j + other
        first, other_first = i + one + 1, j + other + 1
    yield first, end, other_first, other_end


def in_order(before: Sequence[Hashable], after: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Return the longest increasing sequence of elements that both sides have exactly once."""
    counts, others = Counter(before), Counter(after)
    places = {element: place for place, element in enumerate(after) if others[element] == 1}
    pairs = [
        (place, places[element])
        for place, element in enumerate(before)
        if counts[element] == 1 and element in places
    ]
    ends: list[int] = []
    """The smallest last element of an increasing sequence, by its length."""
    last: list[int] = []
    back: list[int] = []
    for number, (_, other) in enumerate(pairs):
        length = bisect_left(ends, other)
        back.append(last[length - 1] if length else -1)
        ends[length : length + 1] = [other]
        last[length : length + 1] = [number]
    chain: list[tuple[int, int]] = []
    number = last[-1] if last else -1
    while number >= 0:
        chain.append(pairs[number])
        number = back[number]
    return chain[::-1]
