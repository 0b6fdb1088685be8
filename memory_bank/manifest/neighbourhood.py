"""How documents hang together by their links: order, containers, successors."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import NamedTuple

from memory_bank.manifest.manifest import Manifest

NEXT = ("next",)
PREVIOUS = ("previous", "prev")
PART_OF = ("part_of", "session", "parent", "up")
"""Types of links that say where a document stands among others."""
_ORDER = ", ".join(f"'{kind}'" for kind in (*NEXT, *PREVIOUS, *PART_OF))
_SUPERSEDING = "'supersedes', 'superseded_by'"


class Context(NamedTuple):
    """How some documents hang together, by number."""

    following: Mapping[int, int] = MappingProxyType({})
    """A document and the one that its `next` link, or the other's `previous` link, leads to."""
    container: Mapping[int, str] = MappingProxyType({})
    """A document and what it says it is a part of: a document's key, or a ghost."""
    spans: Mapping[int, tuple[int, int]] = MappingProxyType({})
    """First and last row of the documents in `following`."""


def context(manifest: Manifest, numbers: Collection[int]) -> Context:
    """Return how some documents hang together: by `next`, `previous` and what they are part of."""
    following, container = _linked(manifest, numbers)
    spans = _spans(manifest, {*following, *following.values()})
    return Context(following, container, spans)


def superseded(manifest: Manifest, numbers: Collection[int]) -> dict[int, tuple[int, str]]:
    """Map the documents among these that another one supersedes to its number and key.

    One that is hidden supersedes nothing. Of several the newest is named, and the first key of
    equals: the same after a rebuild.
    """
    said_by_new = (
        "SELECT created, key, links.dest, links.document FROM links JOIN documents"
        " ON documents.id = links.document WHERE links.type = 'supersedes' AND NOT hidden"
        " AND links.dest IN ({})"
    )
    said_by_old = (
        "SELECT created, key, links.document, links.dest FROM links JOIN documents"
        " ON documents.id = links.dest WHERE links.type = 'superseded_by' AND NOT hidden"
        " AND links.document IN ({})"
    )
    wanted = list(numbers)
    rows = [row for sql in (said_by_new, said_by_old) for row in manifest.chunked(sql, wanted)]
    found: dict[int, tuple[int, str]] = {}
    for _, key, old, new in sorted(rows, key=lambda row: (-row[0], row[1])):
        if old != new:
            found.setdefault(old, (new, key))
    return found


def any_supersedes(manifest: Manifest) -> bool:
    """Tell whether any document supersedes another."""
    return _any_link(manifest, _SUPERSEDING)


def neighbours(manifest: Manifest, numbers: Collection[int]) -> list[tuple[int, int, str]]:
    """Return the links between documents that touch these: source, target, type."""
    wanted = list(numbers)
    out = "SELECT document, dest, type FROM links WHERE dest IS NOT NULL AND document IN ({})"
    into = "SELECT document, dest, type FROM links WHERE dest IN ({})"
    return sorted({row for sql in (out, into) for row in manifest.chunked(sql, wanted)})


def _spans(manifest: Manifest, numbers: Collection[int]) -> dict[int, tuple[int, int]]:
    sql = (
        "SELECT document, min(row), max(row) FROM passages WHERE document IN ({}) GROUP BY document"
    )
    rows = manifest.chunked(sql, list(numbers))
    return {document: (first, last) for document, first, last in rows}


def _linked(manifest: Manifest, numbers: Collection[int]) -> tuple[dict[int, int], dict[int, str]]:
    if not _any_link(manifest, _ORDER):
        return {}, {}
    sql = (
        "SELECT document, links.type, dest, coalesce(key, ghost) FROM links"
        " LEFT JOIN documents ON documents.id = dest"
        f" WHERE links.type IN ({_ORDER}) AND document IN ({{}}) ORDER BY links.id"
    )
    following: dict[int, int] = {}
    container: dict[int, str] = {}
    for document, kind, dest, name in manifest.chunked(sql, list(numbers)):
        if kind in PART_OF:
            container.setdefault(document, name)
        elif dest is not None and kind in NEXT:
            following.setdefault(document, dest)
        elif dest is not None:
            following.setdefault(dest, document)
    return following, container


def _any_link(manifest: Manifest, types: str) -> bool:
    # the second condition lets SQLite use the index of links that have a type
    known = f"SELECT 1 FROM links WHERE type IN ({types}) AND type <> 'related_to' LIMIT 1"
    return manifest.execute(known).fetchone() is not None
