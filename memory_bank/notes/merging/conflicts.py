"""Merge conflicts that somebody left in a note: the lines that git marks them with."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator
from typing import NamedTuple

from memory_bank.base.errors import Hint, UnreadableNote
from memory_bank.notes.characters import BREAK

UNRESOLVED = "unresolved merge conflict"

OPENING = "<<<<<<< "
"""What git starts the first line of a conflict with."""

_MARKER = re.compile(r"<{7} .*|\|{7}(?: .*)?|={7}|>{7}(?: .*)?")

_BEFORE = {"|": {"<"}, "=": {"<", "<|"}, ">": {"<=", "<|="}}
"""What must stand before a marker, by first letters: git writes them in this order."""


class MergeConflict(NamedTuple):
    """One conflict of a text."""

    line: int
    """1-based line of the text that has its first marker."""
    markers: tuple[str, ...]
    """Its lines that are git's, in order."""


def find(text: str) -> list[MergeConflict]:
    """Return the conflicts of a text: each has all lines that git writes, in its order.

    In a fence of code they count too, since notes that have code are merged like others.
    """
    return list(_conflicts(text)) if OPENING in text else []


def _conflicts(text: str) -> Iterator[MergeConflict]:
    first, markers = 0, list[str]()
    for number, line in enumerate(BREAK.split(text), 1):
        if not _MARKER.fullmatch(line):
            continue
        if line[0] == "<":
            first, markers = number, [line]
        elif "".join(marker[0] for marker in markers) in _BEFORE[line[0]]:
            markers.append(line)
            if line[0] == ">":
                yield MergeConflict(first, tuple(markers))
                markers = []


def check(path: str, new: str, old: str = "") -> None:
    """Raise UnreadableNote for a note's new text that has a conflict, or a part of one of the old.

    A text that resolves all conflicts of the old one passes.
    """
    left = find(new)
    line = left[0].line if left else _leftover(new, old)
    if line:
        what = f"{path} has an {UNRESOLVED} (line {line})"
        raise UnreadableNote(f"{what}: nothing was written", Hint.RESOLVE_CONFLICT)


def _leftover(new: str, old: str) -> int:
    """Return the line of a marker that a conflict of the old text left behind; 0 if none is."""
    marked = Counter(marker for conflict in find(old) for marker in conflict.markers)
    if not marked:
        return 0
    lines = BREAK.split(new)
    before, after = _counted(BREAK.split(old), marked), _counted(lines, marked)
    left = {marker for marker, many in after.items() if many > before[marker] - marked[marker]}
    return next((number for number, line in enumerate(lines, 1) if line in left), 0)


def _counted(lines: list[str], wanted: Collection[str]) -> Counter[str]:
    return Counter(line for line in lines if line in wanted)
