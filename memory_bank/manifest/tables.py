"""Compare the tables of two manifests."""

from __future__ import annotations

from collections.abc import Iterator

from memory_bank.manifest.manifest import DONE, HASH, UNREADABLE, Manifest

_TABLES = {
    "documents": (
        f"SELECT key, state, size, {HASH}, reason, known_as, title, created, updated, hidden, data"
        " FROM documents"
    ),
    "fields": (
        "SELECT documents.key, fields.key, value FROM fields JOIN documents ON id = document"
    ),
    "names": "SELECT key, name, rank FROM names JOIN documents ON id = document",
    "sections": (
        "SELECT key, ordinal, line, end_line, headings, name, sections.created, tokens"
        " FROM sections JOIN documents ON id = document"
    ),
    "section_fields": (
        "SELECT documents.key, ordinal, section_fields.key, value FROM section_fields"
        " JOIN documents ON id = document"
    ),
    "passages": (
        "SELECT key, section, line, end_line FROM passages"
        " JOIN documents ON documents.id = document"
    ),
    "anchors": "SELECT key, anchor, line FROM anchors JOIN documents ON id = document",
    "links": (
        "SELECT source.key, links.line, links.type, links.target, links.heading, links.anchor,"
        " links.ghost, links.ambiguous, goal.key FROM links"
        " JOIN documents AS source ON source.id = links.document"
        " LEFT JOIN documents AS goal ON goal.id = links.dest"
    ),
    "faults": "SELECT key, line, faults.reason FROM faults JOIN documents ON id = document",
    "refused": "SELECT key, reason FROM refused",
}


def differences(ours: Manifest, fresh: Manifest) -> Iterator[str]:
    """Yield a description of each difference between a manifest and a fresh one."""
    for table, sql in _TABLES.items():
        left, right = set(ours.execute(sql)), set(fresh.execute(sql))
        for row in sorted(left - right, key=repr):
            yield f"{table}: indexed, but not in the files: {_words(row)}"
        for row in sorted(right - left, key=repr):
            yield f"{table}: in the files, but not indexed: {_words(row)}"
    (unfinished,) = ours.execute(
        f"SELECT count(*) FROM documents WHERE state NOT IN ({DONE}, {UNREADABLE})"
    ).fetchone()
    if unfinished:
        yield f"documents: {unfinished} are not finished"


def _words(row: tuple[object, ...]) -> str:
    return ", ".join(str(value)[:80] for value in row if value not in {None, ""})
