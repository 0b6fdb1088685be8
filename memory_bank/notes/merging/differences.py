"""Differences of two texts by lines, anchored at lines that are unique in both."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

_MOST_PAIRS = 1_000_000
"""Pairs of lines, in all places between unique lines, that are compared; more would take seconds.
What is beyond counts as changed."""


class Hunk(NamedTuple):
    """A change: the lines `start` to `end` of the base become `lines`."""

    start: int
    end: int
    lines: tuple[str, ...]


class _Match(NamedTuple):
    """Equal lines: their numbers in both texts, and how many they are."""

    old: int
    new: int
    size: int


def hunks(old: Sequence[str], new: Sequence[str]) -> list[Hunk]:
    """Return the changes in order; an insertion is as far down as it can be."""
    found: list[Hunk] = []
    at = here = 0
    for match in (*_matches(old, new), _Match(len(old), len(new), 0)):
        if match.old > at or match.new > here:
            found.append(Hunk(at, match.old, tuple(new[here : match.new])))
        at, here = match.old + match.size, match.new + match.size
    return _slid(old, found)


def _matches(old: Sequence[str], new: Sequence[str]) -> Iterator[_Match]:
    """Yield runs of equal lines: at both ends, between unique lines, and the longest elsewhere."""
    start, most = 0, min(len(old), len(new))
    while start < most and old[start] == new[start]:
        start += 1
    end = 0
    while end < most - start and old[-1 - end] == new[-1 - end]:
        end += 1
    if start:
        yield _Match(0, 0, start)
    last_old, last_new = len(old) - end, len(new) - end
    at, here = start, start
    left = _MOST_PAIRS
    for place in (*_unique(old, new, start, end), (last_old, last_new)):
        mine, its = range(at, place[0]), range(here, place[1])
        left -= len(mine) * len(its)
        if left >= 0:
            yield from _longest(old, new, mine, its)
        if place[0] < last_old and place[1] < last_new:
            yield _Match(*place, 1)
        at, here = place[0] + 1, place[1] + 1
    if end:
        yield _Match(last_old, last_new, end)


def _unique(old: Sequence[str], new: Sequence[str], start: int, end: int) -> list[tuple[int, int]]:
    """Return the places of lines that each text has once, in the order of both."""
    mine, its = old[start : len(old) - end], new[start : len(new) - end]
    once = {line for line, many in Counter(mine).items() if many == 1}
    once &= {line for line, many in Counter(its).items() if many == 1}
    places = {line: start + number for number, line in enumerate(its) if line in once}
    pairs = [(start + at, places[line]) for at, line in enumerate(mine) if line in once]
    return _increasing(pairs)


def _increasing(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return a longest subsequence whose second numbers increase."""
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for number, (_, value) in enumerate(pairs):
        length = bisect_left(tails, value)
        before.append(ends[length - 1] if length else -1)
        tails[length : length + 1] = [value]
        ends[length : length + 1] = [number]
    found: list[tuple[int, int]] = []
    at = ends[-1] if ends else -1
    while at >= 0:
        found.append(pairs[at])
        at = before[at]
    return found[::-1]


def _longest(old: Sequence[str], new: Sequence[str], mine: range, its: range) -> Iterator[_Match]:
    if not mine or not its:
        return
    matcher = SequenceMatcher(
        None, old[mine.start : mine.stop], new[its.start : its.stop], autojunk=False
    )
    for at, here, size in matcher.get_matching_blocks():
        if size:
            yield _Match(mine.start + at, its.start + here, size)


def _slid(old: Sequence[str], found: Sequence[Hunk]) -> list[Hunk]:
    """Return the changes with insertions moved down over equal lines."""
    slid: list[Hunk] = []
    for hunk, following in zip(found, [*found[1:], Hunk(len(old) + 1, 0, ())], strict=False):
        start, lines = hunk.start, list(hunk.lines)
        if start == hunk.end:
            while start < min(len(old), following.start - 1) and lines[0] == old[start]:
                lines.append(lines.pop(0))
                start += 1
        slid.append(Hunk(start, max(start, hunk.end), tuple(lines)))
    return slid
