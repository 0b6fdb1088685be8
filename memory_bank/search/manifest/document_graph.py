"""Read relations between documents: the ends of links, sequences, containers, successors."""

from __future__ import annotations

import json
from collections.abc import Collection

from memory_bank.base import NamedTuple
from memory_bank.notes.decision_records import ENDED
from memory_bank.search.manifest.document_rows import with_status
from memory_bank.search.manifest.manifest import DONE, IS_SUPERSEDING, PENDING, Manifest


class Node(NamedTuple):
    """A note, ghost, file or tag."""

    id: str
    label: str
    kind: str = "note"
    type: str = ""
    status: str = ""
    tags: tuple[str, ...] = ()
    hidden: bool = False


class GraphLink(NamedTuple):
    """A link as an edge; links of a kind and type between the same two are one."""

    source: int
    dest: int
    """0 for a ghost."""
    kind: str
    type: str
    ghost: str = ""


class GraphRows:
    """The whole graph, in an order that depends on the notes only.

    It is equal to itself only, so that what is made of it can be cached by it.
    """

    def __init__(self, documents: dict[int, Node], links: tuple[GraphLink, ...]) -> None:
        self.documents = documents
        self.links = links


def read_graph(manifest: Manifest) -> GraphRows:
    """Return the graph, cached until the index changes."""
    return manifest.cached(_read) or _read(manifest)


def _read(manifest: Manifest) -> GraphRows:
    live = f"state IN ({DONE}, {PENDING})"
    rows = manifest.execute(
        "SELECT id, key, coalesce(nullif(title, ''), key),"
        " coalesce(json_extract(data, '$.type'), ''),"
        " coalesce(json_extract(data, '$.status'), 'active'), hidden,"
        f" coalesce(json_extract(data, '$.tags'), '[]') FROM documents WHERE {live} ORDER BY key"
    )
    documents = {
        number: Node(
            key,
            title,
            type=str(kind),
            status=str(status),
            tags=tuple(sorted(map(str, json.loads(tags)))),
            hidden=bool(hidden),
        )
        for number, key, title, kind, status, hidden, tags in rows
    }
    links = manifest.execute(
        "SELECT DISTINCT document, coalesce(dest, 0), kind, type, iif(dest IS NULL, ghost, '')"
        " FROM links JOIN documents AS source ON source.id = document"
        f" WHERE {live} AND NOT ambiguous AND dest IS NOT document"
        " AND (dest IS NOT NULL OR ghost <> '') ORDER BY source.key, links.id"
    )
    return GraphRows(documents, tuple(map(GraphLink._make, links)))


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
