"""The manifest's tables, and its connection, which only this package uses."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from sqlite3 import Cursor
from typing import Any, TypeVar

from memory_bank.base import sqlite
from memory_bank.base.errors import IndexDamaged

VERSION = 18
"""Changes whenever the tables change: the index is then rebuilt."""

SEPARATOR = "\x1f"
"""Separates the headings of a path in one column."""

PENDING, DONE, UNREADABLE, GONE = range(4)
"""States of a document: written, but not yet in every retriever; indexed completely; not readable;
deleted, but not yet from every retriever."""

HASH = "lower(hex(hash))"
"""The hash of a document in hex; the column has its bytes."""

MEAN_WORDS = "mean_words"
"""Key of the number of passages and their mean length in words, as last computed."""

COMPLETE = "complete"
"""Key of the fingerprint of the retrievers if all are complete, else empty."""

IS_SUPERSEDING = "type IN ('supersedes', 'superseded_by')"
"""Condition of a link; as it is written in the partial index, which SQLite uses for that."""

_TABLES = f"""
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE documents (
    id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE, state INTEGER NOT NULL,
    signature TEXT NOT NULL, hash BLOB NOT NULL, content BLOB NOT NULL DEFAULT x'',
    size INTEGER NOT NULL DEFAULT 0,
    reason TEXT NOT NULL DEFAULT '', known_as TEXT NOT NULL DEFAULT '',
    title TEXT NOT NULL DEFAULT '', created REAL NOT NULL DEFAULT 0,
    updated REAL NOT NULL DEFAULT 0, stated INTEGER NOT NULL DEFAULT 0,
    hidden INTEGER NOT NULL DEFAULT 0, data TEXT NOT NULL DEFAULT '{{}}'
);
CREATE INDEX documents_state ON documents (state) WHERE state <> 1;
CREATE INDEX documents_created ON documents (created);
CREATE INDEX documents_hidden ON documents (hidden) WHERE hidden = 1;
CREATE INDEX documents_content ON documents (substr(content, 1, 6)) WHERE content <> x'';
CREATE TABLE field_values (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL, value TEXT NOT NULL, UNIQUE (key, value)
);
CREATE TABLE document_fields (
    document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE, field INTEGER NOT NULL,
    PRIMARY KEY (document, field)
) WITHOUT ROWID;
CREATE INDEX document_fields_field ON document_fields (field);
CREATE VIEW fields AS
    SELECT document, key, value FROM document_fields JOIN field_values ON id = field;
CREATE TRIGGER fields_insert INSTEAD OF INSERT ON fields
    BEGIN INSERT OR IGNORE INTO field_values (key, value) VALUES (new.key, new.value)
    ; INSERT OR IGNORE INTO document_fields SELECT new.document, id FROM field_values
        WHERE key = new.key AND value = new.value
    ; END;
CREATE TRIGGER fields_delete INSTEAD OF DELETE ON fields
    BEGIN DELETE FROM document_fields WHERE document = old.document AND field =
        (SELECT id FROM field_values WHERE key = old.key AND value = old.value)
    ; DELETE FROM field_values WHERE key = old.key AND value = old.value
        AND NOT EXISTS (SELECT 1 FROM document_fields WHERE field = id)
    ; END;
CREATE TABLE names (
    name INTEGER NOT NULL, rank INTEGER NOT NULL,
    document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
    PRIMARY KEY (name, rank, document)
) WITHOUT ROWID;
CREATE INDEX names_document ON names (document);
CREATE TABLE sections (
    document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE, ordinal INTEGER NOT NULL,
    line INTEGER NOT NULL, end_line INTEGER NOT NULL, headings TEXT NOT NULL, name TEXT NOT NULL,
    created REAL NOT NULL, tokens INTEGER NOT NULL, PRIMARY KEY (document, ordinal)
) WITHOUT ROWID;
CREATE INDEX sections_name ON sections (name) WHERE name <> '';
CREATE INDEX sections_created ON sections (created, name) WHERE name <> '';
CREATE TABLE section_fields (
    document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE, ordinal INTEGER NOT NULL,
    key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (document, ordinal, key, value)
) WITHOUT ROWID;
CREATE INDEX section_fields_key ON section_fields (key, value);
CREATE TABLE passages (
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
    section INTEGER NOT NULL, line INTEGER NOT NULL, end_line INTEGER NOT NULL,
    words INTEGER NOT NULL, code INTEGER NOT NULL
);
CREATE INDEX passages_document ON passages (document, section);
CREATE TABLE anchors (
    document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
    anchor TEXT NOT NULL, line INTEGER NOT NULL, PRIMARY KEY (document, anchor)
) WITHOUT ROWID;
CREATE TABLE links (
    id INTEGER PRIMARY KEY, document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
    line INTEGER NOT NULL, kind TEXT NOT NULL, type TEXT NOT NULL, target TEXT NOT NULL,
    name INTEGER NOT NULL, second_name INTEGER NOT NULL, other_ghost TEXT,
    ghost TEXT AS (coalesce(other_ghost, target)), heading TEXT NOT NULL,
    anchor TEXT NOT NULL, text TEXT NOT NULL, before TEXT NOT NULL, after TEXT NOT NULL,
    dest INTEGER, ambiguous INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX links_document ON links (document);
CREATE INDEX links_name ON links (name);
CREATE INDEX links_second ON links (second_name) WHERE second_name <> 0;
CREATE INDEX links_dest ON links (dest);
CREATE INDEX links_superseding ON links (type) WHERE {IS_SUPERSEDING};
CREATE TABLE faults (
    document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE, line INTEGER NOT NULL,
    reason TEXT NOT NULL
);
CREATE INDEX faults_document ON faults (document);
CREATE TABLE refused (key TEXT PRIMARY KEY, reason TEXT NOT NULL) WITHOUT ROWID
"""

Table = TypeVar("Table")


def filled_key(retriever: str) -> str:
    """Return the key of the version with which a retriever was filled."""
    return f"filled:{retriever}"


class Manifest:
    """An open manifest; other packages use the functions of this package."""

    def __init__(self, file: Path, index_id: str = "", *, make: bool = True) -> None:
        """Open the manifest; make an empty one if missing and `make` is set.

        It stores the id of the folder that it was made for, so that a file from a repository or a
        copy is not used. Raises IndexDamaged.
        """
        self.file = file
        self._identity = sqlite.file_identity(file)
        self._memos: dict[Callable[[Manifest], Any], sqlite.Memo[Any]] = {}
        owner = os.urandom(16).hex()
        born = f";\nINSERT INTO meta VALUES ('owner', '{owner}'), ('index', '{index_id}')"
        self._base = sqlite.connect(file, _TABLES + born, VERSION, make=make)
        self._identity = sqlite.file_identity(file) if make else self._identity
        with sqlite.convert_errors(file):
            meta = self.meta("index")
            self.owner = str(self.meta("owner"))
            """Random id of this manifest; retrievers store it."""
        if meta != index_id:
            self.close()
            raise IndexDamaged(f"{file} was made for another index", "it is rebuilt")

    def current(self) -> bool:
        """Tell whether the path still leads to the open file."""
        return sqlite.file_identity(self.file) == self._identity

    def execute(self, sql: str, values: Sequence[Any] = ()) -> Cursor:
        """Run a statement."""
        return self._base.execute(sql, values)

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run a statement for each row of values."""
        self._base.executemany(sql, rows)

    def chunked(self, sql: str, values: Sequence[int] | Sequence[str]) -> list[tuple[Any, ...]]:
        """Run a statement with `IN ({})` over any number of values."""
        return list(sqlite.execute_chunked(self._base, sql, values))

    def transaction(self) -> AbstractContextManager[None]:
        """Commit everything done inside, or nothing."""
        return sqlite.transaction(self._base)

    def guarded(self) -> AbstractContextManager[None]:
        """Convert SQLite's errors to errors of this package."""
        return sqlite.convert_errors(self.file)

    def version(self) -> int:
        """Return a number that changes when another connection commits."""
        return sqlite.data_version(self._base)

    def cached(self, load: Callable[[Manifest], Table]) -> Table | None:
        """Return what `load` returns, cached until a write; see `sqlite.Memo`."""
        memo = self._memos.setdefault(load, sqlite.Memo(lambda _: load(self)))
        table: Table | None = memo.of(self._base)
        return table

    def meta(self, key: str) -> str | None:
        """Return a value about the whole index; None if it was never recorded."""
        row = self._base.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    def put_meta(self, key: str, value: str) -> None:
        """Record a value about the whole index."""
        sql = "INSERT INTO meta VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = ?2"
        self._base.execute(sql, (key, value))

    def unfinished(self) -> bool:
        """Tell whether a batch is in progress or was interrupted."""
        # the first condition makes SQLite use the partial index, which has the same text
        sql = (
            f"SELECT 1 FROM documents WHERE state <> {DONE} AND state IN ({PENDING}, {GONE})"
            " LIMIT 1"
        )
        return self._base.execute(sql).fetchone() is not None

    def check(self) -> None:
        """Raise IndexDamaged if the file is damaged."""
        with self.guarded():
            (answer,) = self._base.execute("PRAGMA quick_check(1)").fetchone()
        if answer != "ok":
            raise IndexDamaged(f"{self.file} is damaged: {answer}", "it is rebuilt")

    def checkpoint(self) -> None:
        """Empty the write-ahead log, unless it is being read."""
        sqlite.checkpoint(self._base)

    def close(self) -> None:
        """Close the file."""
        self._base.close()


_COMPARED = {
    "documents": (
        f"SELECT key, state, size, {HASH}, reason, known_as, title, created, updated, hidden,"
        " content, data FROM documents"
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


def yield_differences(ours: Manifest, fresh: Manifest) -> Iterator[str]:
    """Yield a description of each difference between a manifest and a fresh one."""
    for table, sql in _COMPARED.items():
        indexed, from_files = set(ours.execute(sql)), set(fresh.execute(sql))
        for row in sorted(indexed - from_files, key=repr):
            yield f"{table}: indexed, but not in the files: {_join_cells(row)}"
        for row in sorted(from_files - indexed, key=repr):
            yield f"{table}: in the files, but not indexed: {_join_cells(row)}"
    (unfinished,) = ours.execute(
        f"SELECT count(*) FROM documents WHERE state NOT IN ({DONE}, {UNREADABLE})"
    ).fetchone()
    if unfinished:
        yield f"documents: {unfinished} are not finished"


def _join_cells(row: tuple[object, ...]) -> str:
    return ", ".join(str(value)[:80] for value in row if value not in {None, ""})
