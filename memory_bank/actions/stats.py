"""Statistics of a bank: counts of notes, tags, types and links."""

from __future__ import annotations

from dataclasses import dataclass

from memory_bank.actions.navigate import count_problems
from memory_bank.bank import Bank, View
from memory_bank.manifest import documents

_UNIT = 1000
_FEW = 10


@dataclass(frozen=True, slots=True)
class Stats:
    """Counts over the notes of a bank."""

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
    """Notes without links in either direction."""
    unindexed: int


def stats(bank: Bank) -> Stats:
    """Return counts of notes, tags, types, links and files that could not be indexed."""
    bank.catch_up()
    return bank.read(_stats)


def _stats(view: View) -> Stats:
    count, size, archived, passages = documents.totals(view.manifest)
    links = count_problems(view)
    return Stats(
        count=count,
        total_bytes=size,
        total_size=readable(size),
        archived=archived,
        passages=passages,
        tags=documents.counts(view.manifest, "tag"),
        types={
            name or "untyped": number
            for name, number in documents.data_counts(view.manifest, "type").items()
        },
        ghosts=links["ghosts"],
        broken_links=links["broken_links"],
        orphans=links["orphans"],
        unindexed=len(documents.unindexed(view.manifest)),
    )


def readable(size: int) -> str:
    """Return a number of bytes in the largest fitting unit: `45KB`; 1 KB is 1,000 bytes.

    Amounts below ten have one decimal.
    """
    amount, unit = float(size), "B"
    for larger in ("KB", "MB", "GB", "TB"):
        if round(amount) < _UNIT:
            break
        amount, unit = amount / _UNIT, larger
    whole = unit == "B" or round(amount, 1) >= _FEW
    return f"{amount:.0f}{unit}" if whole else f"{amount:.1f}{unit}"
