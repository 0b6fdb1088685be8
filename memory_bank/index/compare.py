"""Compare an index with a fresh one of the same source: every difference by name."""

from __future__ import annotations

from collections.abc import Iterator

from memory_bank.index.index import Index
from memory_bank.manifest import documents, tables


def compared(ours: Index, fresh: Index) -> Iterator[str]:
    """Yield in words how an index differs from a fresh one.

    Their retrievers must hold the passages that their manifests have, no more and no less.
    """
    yield from tables.differences(ours.manifest, fresh.manifest)
    for side, index in (("index", ours), ("fresh index", fresh)):
        rows = documents.passage_rows(index.manifest)
        for retriever in index.retrievers.all()[0]:
            if not retriever.holds(rows):
                yield f"{retriever.name}: holds other passages than the {side} has"
