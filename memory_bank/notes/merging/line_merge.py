"""Merge two changes of a text by lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from memory_bank.notes.merging import insertions
from memory_bank.notes.merging.differences import Hunk, hunks
from memory_bank.notes.merging.markdown_lines import code, may_part
from memory_bank.notes.merging.parts import Part, conflict


class _Change(NamedTuple):
    """A change of one side."""

    hunk: Hunk
    is_ours: bool


def merge(
    base: Sequence[str], ours: Sequence[str], theirs: Sequence[str], *, touching: bool = True
) -> list[Part]:
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

    def __init__(self, base: Sequence[str], *, touching: bool) -> None:
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
        found: Sequence[Part] | None = self.apart(group)
        if found is None and not self.in_code(start):
            found = self.together(ours, theirs, start, end)
        if found is None:
            return list(conflict(ours, theirs, self.base[start:end]))
        return list(found)

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
            kept = self.base[at : hunk.start]
            lines += kept
            above = lines[-1] if lines else above
            if number and change.is_ours != group[number - 1].is_ours and not kept:
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

    def together(
        self, ours: Sequence[str], theirs: Sequence[str], start: int, end: int
    ) -> list[str] | None:
        """Return the lines if both sides made the same of the base, and inserted blocks besides."""
        same = end - start
        if len(ours) < same or ours[:same] != theirs[:same]:
            return None
        above = ours[same - 1] if same else self.line(start - 1)
        found = insertions.both(ours[same:], theirs[same:], above, self.line(end))
        return None if found is None else [*ours[:same], *found]

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
