"""Write documents to the manifest's tables; only the indexer calls this."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any

from memory_bank.base import lazy_pattern
from memory_bank.base.documents import Document, Passage, Signature, Unchanged, Unreadable
from memory_bank.base.errors import IndexDamaged
from memory_bank.search.manifest.link_rows import NO_NAME, name_number
from memory_bank.search.manifest.manifest import (
    DONE,
    GONE,
    HASH,
    MEAN_WORDS,
    PENDING,
    SEPARATOR,
    UNREADABLE,
    Manifest,
)
from memory_bank.search.retrievers.base import IndexedPassage

Row = tuple[Any, ...]

_CHANGED = "moved"
"""Key of the number of passages that changed since their mean length was computed."""

_DOCUMENT_TABLES = (
    "fields", "names", "sections", "section_fields", "passages", "anchors", "links", "faults",
)  # fmt: skip

_COLUMNS = (
    "size = ?, reason = ?, known_as = ?, title = ?, created = ?, updated = ?, stated = ?,"
    " hidden = ?, content = ?, data = ?"
)

_LINKS = (
    "links (document, line, kind, type, target, name, second_name, other_ghost, heading, anchor,"
    " text, before, after) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)

_CODE_CHARACTER = lazy_pattern(r"[(){}=;<>_]")
"""Characters that are frequent in code; without `[`, `]` and `*`, which Markdown uses in prose."""


def put(
    manifest: Manifest, entries: Sequence[tuple[Document, Signature]]
) -> tuple[list[int], list[IndexedPassage]]:
    """Write documents as pending; return their numbers and the entries to index.

    Former rows of the documents are replaced; their numbers stay.
    """
    files = [(document.key, signature, document.hash) for document, signature in entries]
    numbers = _upsert(manifest, PENDING, files)
    known_numbers = [
        (number, document) for number, (document, _) in zip(numbers, entries, strict=True)
    ]
    manifest.executemany(
        f"UPDATE documents SET {_COLUMNS} WHERE id = ?",
        ((*_values(document), n) for n, document in known_numbers),
    )
    for table, rows in _DOCUMENT_ROWS:
        manifest.executemany(
            f"INSERT OR IGNORE INTO {table}",
            ((number, *row) for number, document in known_numbers for row in rows(document)),
        )
    return numbers, _put_passages(manifest, known_numbers)


def put_unreadable(
    manifest: Manifest, entries: Mapping[str, tuple[Unreadable, Signature]]
) -> list[int]:
    """Record documents that can't be indexed, by key; return their numbers."""
    files = [(key, signature, unreadable.hash) for key, (unreadable, signature) in entries.items()]
    numbers = _upsert(manifest, UNREADABLE, files)
    manifest.executemany(
        f"UPDATE documents SET {_COLUMNS} WHERE id = ?",
        (
            (unreadable.size, unreadable.reason, "", "", 0, 0, 0, 0, b"", "{}", number)
            for number, (unreadable, _) in zip(numbers, entries.values(), strict=True)
        ),
    )
    return numbers


def update_signatures(manifest: Manifest, unchangeds: Mapping[str, Unchanged]) -> None:
    """Record the signatures and dates of documents whose content is the same."""
    manifest.executemany(
        "UPDATE documents SET signature = ?, created = ?, updated = ?, stated = ? WHERE key = ?",
        ((unchanged.signature, *unchanged.dates, key) for key, unchanged in unchangeds.items()),
    )


def mark_gone(manifest: Manifest, numbers: Sequence[int]) -> None:
    """Mark documents that are gone; `finish` removes them once no retriever has them."""
    sql = f"UPDATE documents SET state = {GONE} WHERE id = ?"
    manifest.executemany(sql, ((number,) for number in numbers))
    _clear(manifest, numbers)


def finish(manifest: Manifest, numbers: Iterable[int]) -> None:
    """Record that every retriever is up to date with these documents."""
    rows = [(number,) for number in numbers]
    manifest.executemany(f"DELETE FROM documents WHERE id = ? AND state = {GONE}", rows)
    sql = f"UPDATE documents SET state = {DONE} WHERE id = ? AND state = {PENDING}"
    manifest.executemany(sql, rows)


def put_refused(manifest: Manifest, refused: Mapping[str, str]) -> None:
    """Record the files that can't be documents, with reasons."""
    manifest.execute("DELETE FROM refused")
    manifest.executemany("INSERT INTO refused VALUES (?, ?)", refused.items())


def update_mean_words(manifest: Manifest, changed: int) -> None:
    """Record the mean length of a passage, if a tenth of the passages changed since last time.

    `changed` is the number that changed now. Computing it for each change would not scale.
    """
    changed += int(manifest.meta(_CHANGED) or 0)
    if changed > int((manifest.meta(MEAN_WORDS) or "0 0").split()[0]) / 10:
        total, mean = manifest.execute("SELECT count(*), avg(words) FROM passages").fetchone()
        manifest.put_meta(MEAN_WORDS, f"{total} {mean or 0:.1f}")
        changed = 0
    manifest.put_meta(_CHANGED, str(changed))


def forget_signatures(manifest: Manifest) -> None:
    """Have every document read again."""
    manifest.execute("UPDATE documents SET signature = '', hash = x''")


def read_signatures(
    manifest: Manifest, keys: Collection[str] | None = None
) -> Iterable[tuple[str, int, Signature]]:
    """Return key, number and signature of all documents, or of those with some keys.

    The signature of a document whose batch was not finished is empty.
    """
    sql = f"SELECT key, id, iif(state IN ({PENDING}, {GONE}), '', signature) FROM documents"
    if keys is None:
        return manifest.execute(sql)
    return manifest.chunked(f"{sql} WHERE key IN ({{}})", list(keys))


def read_refused(manifest: Manifest) -> dict[str, str]:
    """Return the files that can't be documents, with reasons, as of the last scan."""
    return dict(manifest.execute("SELECT key, reason FROM refused"))


def known_hashes(manifest: Manifest, keys: Sequence[str]) -> dict[str, str]:
    """Return the indexed hashes of some documents."""
    sql = f"SELECT key, {HASH} FROM documents WHERE state = {DONE} AND key IN ({{}})"
    return dict(manifest.chunked(sql, list(keys)))


def list_indexed(
    manifest: Manifest, numbers: Sequence[int] | None = None
) -> list[tuple[int, str, str]]:
    """Return number, key and hash of all or some documents that retrievers must have."""
    sql = f"SELECT id, key, {HASH} FROM documents WHERE state IN ({DONE}, {PENDING})"
    if numbers is None:
        return manifest.execute(sql).fetchall()
    return list(manifest.chunked(f"{sql} AND id IN ({{}})", list(numbers)))


def read_entries(manifest: Manifest, number: int, document: Document) -> list[IndexedPassage]:
    """Return the entries of a document that the manifest has, to put them again.

    Raises IndexDamaged if its rows don't fit the document.
    """
    sql = "SELECT row FROM passages WHERE document = ? ORDER BY row"
    rows = [row for (row,) in manifest.execute(sql, (number,))]
    if len(rows) != len(_passages(document)):
        raise IndexDamaged(f"rows of {document.key} are missing", "they are rebuilt")
    return list(_entries(document, number, rows))


def _values(document: Document) -> Row:
    data = json.dumps(document.data, ensure_ascii=False, default=str) if document.data else "{}"
    return (
        document.size, "", document.id, document.title, *document.dates, document.hidden,
        bytes.fromhex(document.content), data,
    )  # fmt: skip


def _links(document: Document) -> Iterator[Row]:
    for link in document.links:
        first, second = (*map(name_number, link.names), NO_NAME, NO_NAME)[:2]
        yield (
            link.line, link.kind, link.type, link.target, first, second,
            None if link.ghost == link.target else link.ghost, link.heading, link.block,
            link.text, link.before, link.after,
        )  # fmt: skip


def _sections(document: Document) -> Iterator[Row]:
    for ordinal, section in enumerate(document.sections):
        headings = SEPARATOR.join(section.headings)
        yield (
            ordinal, section.line, section.end_line, headings, section.name, section.created,
            section.tokens,
        )  # fmt: skip


def _section_fields(document: Document) -> Iterator[Row]:
    for ordinal, section in enumerate(document.sections):
        for key, value in section.fields:
            yield ordinal, key, value


_DOCUMENT_ROWS: tuple[tuple[str, Callable[[Document], Iterable[Row]]], ...] = (
    ("fields VALUES (?, ?, ?)", lambda document: document.fields),
    (
        "names (document, name, rank) VALUES (?, ?, ?)",
        lambda document: ((name_number(name), rank) for name, rank in document.names if name),
    ),
    ("anchors VALUES (?, ?, ?)", lambda document: document.anchors),
    (
        "faults VALUES (?, ?, ?)",
        lambda document: ((fault.line, fault.reason) for fault in document.faults),
    ),
    ("sections VALUES (?, ?, ?, ?, ?, ?, ?, ?)", _sections),
    ("section_fields VALUES (?, ?, ?, ?)", _section_fields),
    (_LINKS, _links),
)
"""Tables with their columns after the document's number; duplicate rows are dropped."""


def _upsert(
    manifest: Manifest, state: int, files: Sequence[tuple[str, Signature, str]]
) -> list[int]:
    """Insert or update the rows of documents, and drop the rows of their former content."""
    keys = [key for key, _, _ in files]
    number = dict(manifest.chunked("SELECT key, id FROM documents WHERE key IN ({})", keys))
    _clear(manifest, list(number.values()))
    free = _unused_numbers(manifest, "documents")
    number.update((key, next(free)) for key in keys if key not in number)
    manifest.executemany(
        "INSERT INTO documents (id, key, state, signature, hash) VALUES (?1, ?2, ?3, ?4, ?5)"
        " ON CONFLICT (id) DO UPDATE SET state = ?3, signature = ?4, hash = ?5",
        (
            (number[key], key, state, signature, bytes.fromhex(text))
            for key, signature, text in files
        ),
    )
    return [number[key] for key in keys]


def _clear(manifest: Manifest, numbers: Sequence[int]) -> None:
    for table in _DOCUMENT_TABLES if numbers else ():
        sql = f"DELETE FROM {table} WHERE document = ?"
        manifest.executemany(sql, ((number,) for number in numbers))


def _put_passages(
    manifest: Manifest, documents: Sequence[tuple[int, Document]]
) -> list[IndexedPassage]:
    free = _unused_numbers(manifest, "passages")
    passages = [
        passage for number, document in documents for passage in _entries(document, number, free)
    ]
    places = [passage for _, document in documents for passage in _passages(document)]
    manifest.executemany(
        "INSERT INTO passages VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            (passage.row, passage.document, place.section, place.line, place.end_line,
             passage.words, _code_ratio(place.text))
            for passage, place in zip(passages, places, strict=True)
        ),
    )  # fmt: skip
    return passages


def _entries(document: Document, number: int, rows: Iterable[int]) -> Iterator[IndexedPassage]:
    """Yield the entries of a document's passages with these row numbers."""
    keywords, about = document.keywords, document.about
    title = "" if document.title in document.asked else document.title
    for place, row in zip(_passages(document), rows, strict=False):
        inside = place.section >= 0
        above = document.sections[place.section].headings if inside else ()
        headings = tuple(heading for heading in above if heading not in document.asked)
        words = place.text.count(" ") + place.text.count("\n") + 1
        yield IndexedPassage(row, number, title, headings, place.text, words, keywords, about)
        keywords = about = ""


def _passages(document: Document) -> tuple[Passage, ...]:
    """Return the passages of a document; an empty document has one, so that its title is found."""
    return document.passages or (Passage(1, 1, ""),)


def _code_ratio(text: str) -> int:
    """Return the share of code characters in a text, in thousandths."""
    dense = "".join(text.split())
    return round(1000 * len(_CODE_CHARACTER.findall(dense)) / max(len(dense), 1))


def _unused_numbers(manifest: Manifest, table: str) -> count[int]:
    """Return the numbers that no row of a table has ever had."""
    sql = "SELECT seq FROM sqlite_sequence WHERE name = ?"
    row = manifest.execute(sql, (table,)).fetchone()
    return count(row[0] + 1 if row else 1)
