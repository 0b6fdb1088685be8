"""Check that a merge leaves each text in its section, and apart from others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from memory_bank.notes.merging.markdown_lines import code, heading, is_blank, may_part
from memory_bank.notes.merging.parts import Part


def is_kept(
    base: Sequence[str], ours: Sequence[str], theirs: Sequence[str], parts: Sequence[Part]
) -> bool:
    """Tell whether added lines have the heading that they were added below, and nothing is joined.

    A heading that is not there any more counts as renamed. Lines below a conflict are not checked.
    """
    return _stay_below(base, ours, theirs, parts) and _stay_apart(base, ours, theirs, parts)


def _stay_below(
    base: Sequence[str], ours: Sequence[str], theirs: Sequence[str], parts: Sequence[Part]
) -> bool:
    old, there = set(base), set(parts)
    wanted: dict[str, str | None] = {}
    for side in (ours, theirs):
        often = Counter(side)
        for line, above in _headings(side):
            if line not in old and often[line] == 1 and not is_blank(line):
                wanted[line] = above if line not in wanted else None
    return all(
        wanted.get(line) in {None, above} or wanted[line] not in there
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


def _stay_apart(
    base: Sequence[str], ours: Sequence[str], theirs: Sequence[str], parts: Sequence[Part]
) -> bool:
    """Tell whether lines that are one paragraph now were so before."""
    known = {pair for side in (base, ours, theirs) for pair in pairwise(side)}
    inside, _ = code([part if isinstance(part, str) else "" for part in parts])
    return all(
        may_part(one, other) or inside[number] or (one, other) in known
        for number, (one, other) in enumerate(pairwise(parts))
        if isinstance(one, str) and isinstance(other, str)
    )
