"""Resolve links to documents, and keep them resolved as documents change."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from memory_bank.manifest.manifest import GONE, Manifest
from memory_bank.notes.identity import number_of

NO_NAME = 0
"""The number of a missing name."""


def name_number(name: str) -> int:
    """Return the hash by which the manifest stores a name, or NO_NAME for an empty one.

    Hashes take a third of the space; names are only looked up as a whole.
    """
    return number_of(name) if name else NO_NAME


def names_of(manifest: Manifest, documents: Iterable[int]) -> set[int]:
    """Return the names of these documents."""
    sql = "SELECT DISTINCT name FROM names WHERE document IN ({})"
    return {name for (name,) in manifest.chunked(sql, list(documents))}


def resolve_links(manifest: Manifest, documents: Iterable[int], names: Iterable[int]) -> None:
    """Resolve the links of these documents, and all links with one of these names."""
    links: dict[int, tuple[int, int]] = {}
    wanted = "SELECT id, name, second_name FROM links WHERE {column} IN ({{}})"
    for column, values in (
        ("document", list(documents)),
        ("name", list(names)),
        # the first condition makes SQLite use the partial index, which has the same text
        (f"second_name <> {NO_NAME} AND second_name", list(names)),
    ):
        for number, first, second in manifest.chunked(wanted.format(column=column), values):
            links[number] = (first, second)
    resolved = _documents_of_names(manifest, {name for pair in links.values() for name in pair})
    manifest.executemany(
        "UPDATE links SET dest = ?, ambiguous = ? WHERE id = ?",
        ((*_target(resolved, first, second), number) for number, (first, second) in links.items()),
    )


def keys_of(manifest: Manifest, name: str) -> list[str]:
    """Return the keys of the documents with a name: several if it is ambiguous.

    `name` is as `Document.names` has it.
    """
    rows = manifest.execute(
        "SELECT DISTINCT key FROM names JOIN documents ON id = document WHERE name = ?1"
        f" AND state <> {GONE} AND rank = (SELECT min(rank) FROM names WHERE name = ?1)"
        " ORDER BY key",
        (name_number(name),),
    )
    return [key for (key,) in rows]


def candidates(
    manifest: Manifest, names: Iterable[tuple[int, int]]
) -> dict[tuple[int, int], list[str]]:
    """Map the names of ambiguous links, as the links have them, to the keys of the documents."""
    pairs = set(names)
    resolved = _documents_of_names(manifest, {name for pair in pairs for name in pair})
    meant = {(first, second): resolved(first) or resolved(second) for first, second in pairs}
    sql = f"SELECT id, key FROM documents WHERE state <> {GONE} AND id IN ({{}})"
    every = {number for found in meant.values() for number in found}
    keys = dict(manifest.chunked(sql, sorted(every)))
    return {pair: [keys[one] for one in found if one in keys] for pair, found in meant.items()}


def has_key(manifest: Manifest, key: str) -> bool:
    """Tell whether there is a document with a key, readable or not."""
    sql = f"SELECT 1 FROM documents WHERE key = ? AND state <> {GONE}"
    return manifest.execute(sql, (key,)).fetchone() is not None


def _documents_of_names(manifest: Manifest, names: set[int]) -> Callable[[int], list[int]]:
    """Return a function from a name to its documents: those of the lowest rank."""
    best: dict[int, tuple[int, list[int]]] = {}
    rows = manifest.chunked(
        "SELECT name, rank, document FROM names WHERE name IN ({})", sorted(names)
    )
    for name, rank, document in rows:
        found = best.get(name)
        if found is None or rank < found[0]:
            best[name] = (rank, [document])
        elif rank == found[0]:
            found[1].append(document)
    return lambda name: best.get(name, (0, []))[1]


def _target(
    resolved: Callable[[int], list[int]], first: int, second: int
) -> tuple[int | None, int]:
    for name in (first, second):
        documents = resolved(name)
        if len(documents) == 1:
            return documents[0], 0
        if documents:
            return None, 1
    return None, 0
