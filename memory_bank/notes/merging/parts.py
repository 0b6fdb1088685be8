"""The result of a merge: lines, and conflicts between them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

MARKER_SIZE = 7
"""Length of git's marker lines, unless the attribute `conflict-marker-size` says otherwise."""


class Conflict(NamedTuple):
    """Two changes of the same place, by their lines without line ends."""

    ours: tuple[str, ...]
    theirs: tuple[str, ...]
    base: tuple[str, ...] = ()

    def swapped(self) -> Conflict:
        """Return the conflict with ours and theirs exchanged."""
        return Conflict(self.theirs, self.ours, self.base)


Part = str | Conflict
"""A merged line, or a conflict."""


class Labels(NamedTuple):
    """What the markers of a conflict say."""

    ours: str = "ours"
    theirs: str = "theirs"
    size: int = MARKER_SIZE
    base: str = ""
    """If it is not empty, conflicts show the lines of the base, as git's style `zdiff3` does."""


def conflict(
    ours: Sequence[str], theirs: Sequence[str], base: Sequence[str] = ()
) -> Iterator[Part]:
    """Yield a conflict; lines that both start or end with are outside of it."""
    start = _equal(ours, theirs)
    end = _equal(ours[start:][::-1], theirs[start:][::-1])
    yield from ours[:start]
    mine, its = ours[start : len(ours) - end], theirs[start : len(theirs) - end]
    yield Conflict(tuple(mine), tuple(its), tuple(base))
    yield from ours[len(ours) - end :]


def _equal(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the number of first lines that are equal."""
    pairs = zip(one, other, strict=False)
    return next(
        (number for number, (mine, its) in enumerate(pairs) if mine != its),
        min(len(one), len(other)),
    )


def count(parts: Iterable[Part]) -> int:
    """Return the number of conflicts."""
    return sum(isinstance(part, Conflict) for part in parts)


def rendered(parts: Iterable[Part], labels: Labels, end: str = "") -> Iterator[str]:
    r"""Yield the lines, conflicts as git marks them; `end` is `\r` where lines end with it."""
    for part in parts:
        if isinstance(part, str):
            yield part
            continue
        yield f"{'<' * labels.size} {labels.ours}{end}"
        yield from part.ours
        if labels.base:
            yield f"{'|' * labels.size} {labels.base}{end}"
            yield from part.base
        yield f"{'=' * labels.size}{end}"
        yield from part.theirs
        yield f"{'>' * labels.size} {labels.theirs}{end}"
