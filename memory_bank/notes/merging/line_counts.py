"""Check by counting that a merge drops no line and repeats none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from memory_bank.notes.merging.markdown_lines import heading, is_blank, says_something
from memory_bank.notes.merging.parts import Conflict, Part


def is_balanced(
    base: Sequence[str], ours: Sequence[str], theirs: Sequence[str], parts: Sequence[Part]
) -> bool:
    """Tell whether each line that says something is there as often as the two changes make it.

    A line that one side added or removed counts once more or less; one that both added or removed
    may count for one or for both, and without a base for one.
    """
    old, mine, its = counted(base), counted(ours), counted(theirs)
    sure, maybe = counted(_outside(parts)), Counter[str]()
    for part in parts:
        if isinstance(part, Conflict):
            maybe += counted(part.ours) | counted(part.theirs)
    for line in old | mine | its:
        added = mine[line] + its[line] - old[line]
        most = max(added, min(mine[line], its[line])) if base else max(mine[line], its[line])
        if sure[line] > most:
            return False
        if sure[line] + maybe[line] < min(added, max(mine[line], its[line])):
            return False
    return True


def is_repeated(ours: Sequence[str], theirs: Sequence[str], parts: Sequence[Part]) -> bool:
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
