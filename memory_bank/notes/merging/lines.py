"""Lines of Markdown for a merge: how two texts differ, and what must not be lost."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from memory_bank.notes.compare.text_diff import runs
from memory_bank.notes.merging.conflicts import ConflictingChange, Lines, Part


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


def _slid(old: Lines, found: Sequence[Hunk]) -> list[Hunk]:
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
    found = _HEADING.match(line) if "#" in line[:4] else None
    if found is None:
        return None
    text = line[found.end() :].strip()
    bare = text.rstrip("#")
    return LineHeading(len(found[1]), bare.strip() if not bare or bare[-1].isspace() else text)


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
        found = _FENCE.match(line) if "```" in line or "~~~" in line else None
        if not found:
            continue
        if not fence:
            fence = found[1] if found[1][0] == "~" or "`" not in found[2] else ""
        elif found[1].startswith(fence) and is_blank(found[2]):
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
    mine, its, found = counted(ours), counted(theirs), counted(_outside(parts))
    return any(
        many > max(mine[line], its[line]) and not heading(line) for line, many in found.items()
    )


def _outside(parts: Sequence[Part]) -> Iterable[str]:
    return (part for part in parts if isinstance(part, str))


def counted(lines: Iterable[str]) -> Counter[str]:
    """Count the lines that say something."""
    return Counter(line for line in lines if not is_blank(line) and says_something(line))
