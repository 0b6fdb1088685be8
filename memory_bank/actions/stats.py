"""Count what is there, and name what is wrong."""

from __future__ import annotations

from dataclasses import dataclass

from memory_bank.actions.navigate import count_problems
from memory_bank.bank import Bank
from memory_bank.index.index import Index
from memory_bank.manifest import lookup

_UNIT = 1000
_FEW = 10


@dataclass(frozen=True, slots=True)
class Stats:
    """Counts over the live notes of a bank."""

    count: int
    total_bytes: int
    """Bytes of the notes' files."""
    total_size: str
    """The same for people: `45KB`."""
    archived: int
    passages: int
    tags: dict[str, int]
    types: dict[str, int]
    ghosts: int
    broken_links: int
    orphans: int
    """Notes that link nowhere and that nothing links to."""
    unindexed: int


def stats(bank: Bank) -> Stats:
    """Return counts of notes, tags, types, links and files that could not be indexed."""
    bank.catch_up()
    return bank.healing(_stats)


def _stats(index: Index) -> Stats:
    count, size, archived, passages = lookup.totals(index.base)
    links = count_problems(index)
    return Stats(
        count=count,
        total_bytes=size,
        total_size=readable(size),
        archived=archived,
        passages=passages,
        tags=lookup.tag_counts(index.base),
        types=lookup.type_counts(index.base),
        ghosts=links["ghosts"],
        broken_links=links["broken_links"],
        orphans=links["orphans"],
        unindexed=len(lookup.unindexed(index.base)),
    )


def readable(size: int) -> str:
    """Return a number of bytes in the largest unit that it fills, 1 KB being 1,000 bytes: `45KB`.

    Below ten of a unit there is one decimal.
    """
    amount, unit = float(size), "B"
    for larger in ("KB", "MB", "GB", "TB"):
        if round(amount) < _UNIT:
            break
        amount, unit = amount / _UNIT, larger
    whole = unit == "B" or round(amount, 1) >= _FEW
    return f"{amount:.0f}{unit}" if whole else f"{amount:.1f}{unit}"
