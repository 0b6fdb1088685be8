"""Read relations between documents: which follow, end or link to which."""

from __future__ import annotations

from collections.abc import Collection

from memory_bank.notes.decision_records import ENDED
from memory_bank.search.manifest.document_rows import with_status
from memory_bank.search.manifest.manifest import IS_SUPERSEDING, Manifest


def map_superseded(manifest: Manifest, numbers: Collection[int]) -> dict[int, tuple[int, str]]:
    """Map the superseded documents among these to number and key of their successor.

    A hidden document supersedes nothing. Of several successors, the newest counts; of equally new
    ones, the first by key, so that a rebuild gives the same.
    """
    from_new = (
        "SELECT created, key, links.dest, links.document FROM links JOIN documents"
        " ON documents.id = links.document WHERE links.type = 'supersedes' AND NOT hidden"
        " AND links.dest IN ({})"
    )
    from_old = (
        "SELECT created, key, links.document, links.dest FROM links JOIN documents"
        " ON documents.id = links.dest WHERE links.type = 'superseded_by' AND NOT hidden"
        " AND links.document IN ({})"
    )
    older = list(numbers)
    rows = [row for sql in (from_new, from_old) for row in manifest.chunked(sql, older)]
    successors: dict[int, tuple[int, str]] = {}
    for _, key, old, new in sorted(rows, key=lambda row: (-row[0], row[1])):
        if old != new:
            successors.setdefault(old, (new, key))
    return successors


def map_ended(manifest: Manifest, numbers: Collection[int]) -> dict[int, str]:
    """Map the documents among these that no longer hold by their status to that status.

    Of a note that is no decision record, it is among the user's own keys.
    """
    sql = (
        "SELECT id, coalesce(json_extract(data, '$.extra.status'), json_extract(data, '$.status'),"
        " '') FROM documents WHERE id IN ({})"
    )
    words = (
        (number, str(status).casefold().split()[:1])
        for number, status in manifest.chunked(sql, with_status(manifest, numbers, ENDED))
    )
    return {number: word[0] for number, word in words if not ENDED.isdisjoint(word)}


def linked_pairs(manifest: Manifest, numbers: Collection[int]) -> set[tuple[int, int]]:
    """Return the links among some documents, as source and target."""
    sql = "SELECT DISTINCT document, dest FROM links WHERE document IN ({}) AND dest IS NOT NULL"
    among = set(numbers)
    return {
        (source, target) for source, target in manifest.chunked(sql, list(among)) if target in among
    }


def any_supersedes(manifest: Manifest) -> bool:
    """Tell whether any document supersedes another."""
    text = f"SELECT 1 FROM links WHERE {IS_SUPERSEDING} LIMIT 1"
    return manifest.execute(text).fetchone() is not None
