"""Count what is there, and name what is wrong."""

from __future__ import annotations

from dataclasses import dataclass

from memory_bank.actions.navigate import count_problems
from memory_bank.bank import Bank
from memory_bank.manifest import lookup
from memory_bank.wiring import Index


@dataclass(frozen=True, slots=True)
class Stats:
    """Counts over the live notes of a bank."""

    count: int
    total_size: int
    """Bytes of the notes' files."""
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
        total_size=size,
        archived=archived,
        passages=passages,
        tags=lookup.tag_counts(index.base),
        types=lookup.type_counts(index.base),
        ghosts=links["ghosts"],
        broken_links=links["broken_links"],
        orphans=links["orphans"],
        unindexed=len(lookup.unindexed(index.base)),
    )
