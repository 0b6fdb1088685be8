"""Hold an index against one made anew: every difference by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from memory_bank.manifest.database import DONE, ETAG
from memory_bank.retrievers.base import Retriever
from memory_bank.sqlite import Connection

_NOTES = (
    f"SELECT path, state, size, {ETAG}, reason, note_id, title, type, status, created, updated,"
    " lower(hex(content_hash)), source_type, meta FROM notes"
)
_TABLES = {
    "tags": "SELECT path, tag FROM tags JOIN notes ON id = note",
    "fields": "SELECT path, key, value FROM fields JOIN notes ON id = note",
    "names": "SELECT path, name, rank FROM names JOIN notes ON id = note",
    "sections": (
        "SELECT path, ordinal, line, end_line, headings FROM sections JOIN notes ON id = note"
    ),
    "passages": (
        "SELECT path, section, line, end_line FROM passages JOIN notes ON notes.id = note"
    ),
    "blocks": "SELECT path, block, line FROM blocks JOIN notes ON id = note",
    "links": (
        "SELECT source.path, links.line, links.type, links.target, links.heading, links.block,"
        " links.ghost, links.ambiguous, goal.path FROM links"
        " JOIN notes AS source ON source.id = links.note"
        " LEFT JOIN notes AS goal ON goal.id = links.dest"
    ),
    "faults": "SELECT path, line, faults.reason FROM faults JOIN notes ON id = note",
    "refused": "SELECT path, reason FROM refused",
}


def differences(
    ours: Connection,
    fresh: Connection,
    retrievers: Mapping[str, tuple[Retriever, Retriever]],
) -> Iterator[str]:
    """Yield in words how an index differs from a fresh one of the same files.

    `retrievers` pairs each retriever of ours with the fresh one; they must hold the passages
    that their manifests have, no more and no less.
    """
    for table, sql in {"notes": _NOTES, **_TABLES}.items():
        left, right = set(ours.execute(sql)), set(fresh.execute(sql))
        for row in sorted(left - right, key=repr):
            yield f"{table}: indexed, but not in the files: {_words(row)}"
        for row in sorted(right - left, key=repr):
            yield f"{table}: in the files, but not indexed: {_words(row)}"
    for side, base in enumerate((ours, fresh)):
        entries = dict(base.execute("SELECT row, note FROM passages"))
        for name, pair in retrievers.items():
            if not pair[side].holds(entries):
                yield f"{name}: holds other passages than the {('index', 'fresh index')[side]} has"
    (unfinished,) = ours.execute(
        f"SELECT count(*) FROM notes WHERE state NOT IN ({DONE}, 2)"
    ).fetchone()
    if unfinished:
        yield f"notes: {unfinished} are not finished"


def _words(row: tuple[object, ...]) -> str:
    return ", ".join(str(value)[:80] for value in row if value not in {None, ""})
