"""Read the graph from the manifest: its documents and the ends of its links, without texts."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import NamedTuple

from memory_bank.manifest.manifest import DONE, PENDING, Manifest


class GraphDocument(NamedTuple):
    """A document as a node."""

    number: int
    key: str
    title: str
    type: str
    status: str
    hidden: bool
    tags: tuple[str, ...]


class GraphLink(NamedTuple):
    """A link as an edge; links of a kind and type between the same two are one."""

    source: int
    dest: int
    """0 for a ghost."""
    ghost: str
    kind: str
    type: str


@dataclass(frozen=True, slots=True, eq=False)
class GraphRows:
    """The whole graph, in an order that depends on the notes only.

    It is equal to itself only, so that what is made of it can be cached by it.
    """

    documents: tuple[GraphDocument, ...]
    links: tuple[GraphLink, ...]


def rows(manifest: Manifest) -> GraphRows:
    """Return the graph, cached until the index changes."""
    return manifest.cached(_read) or _read(manifest)


def _read(manifest: Manifest) -> GraphRows:
    live = f"state IN ({DONE}, {PENDING})"
    found = manifest.execute(
        "SELECT id, key, title, coalesce(json_extract(data, '$.type'), ''),"
        " coalesce(json_extract(data, '$.status'), 'active'), hidden,"
        f" coalesce(json_extract(data, '$.tags'), '[]') FROM documents WHERE {live} ORDER BY key"
    )
    documents = tuple(
        GraphDocument(number, key, title, str(kind), str(status), bool(hidden), _tags(tags))
        for number, key, title, kind, status, hidden, tags in found
    )
    links = manifest.execute(
        "SELECT DISTINCT document, coalesce(dest, 0), iif(dest IS NULL, ghost, ''), kind, type"
        " FROM links JOIN documents AS source ON source.id = document"
        f" WHERE {live} AND NOT ambiguous AND dest IS NOT document"
        " AND (dest IS NOT NULL OR ghost <> '') ORDER BY source.key, links.id"
    )
    return GraphRows(documents, tuple(map(GraphLink._make, links)))


def _tags(found: str) -> tuple[str, ...]:
    return tuple(sorted(map(str, json.loads(found))))
