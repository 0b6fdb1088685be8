"""Compare an index with a fresh one of the same source."""

from __future__ import annotations

from collections.abc import Iterator

from memory_bank.index.index import Index
from memory_bank.manifest import documents, tables


def compared(ours: Index, fresh: Index) -> Iterator[str]:
    """Yield a description of each difference between an index and a fresh one.

    Each retriever must have exactly the passages of its manifest.
    """
    yield from tables.differences(ours.manifest, fresh.manifest)
    for side, index in (("index", ours), ("fresh index", fresh)):
        rows = documents.passage_rows(index.manifest)
        for retriever in index.retrievers.all()[0]:
            if not retriever.holds(rows):
                yield f"{retriever.name}: holds other passages than the {side} has"
