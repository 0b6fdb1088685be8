"""The database of what is indexed: its tables, and the connection that nobody else has."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from sqlite3 import Cursor
from typing import Any, TypeVar

from memory_bank import sqlite
from memory_bank.errors import IndexDamaged

VERSION = 11
"""Changes whenever the tables change: the index is then rebuilt."""

SEPARATOR = "\x1f"
"""Between the headings of a path in one column."""

PENDING, DONE, UNREADABLE, GONE = range(4)
"""States of a document: rows written but not yet in every retriever; all done; not readable;
deleted but not yet out of every retriever."""

HASH = "lower(hex(hash))"
"""The hash of a document as everybody else has it; the column has its bytes, half as many."""

MEAN_WORDS = "mean_words"
"""Key of the number of passages and their mean length in words, as last counted."""

COMPLETE = "complete"
"""Key of the fingerprint of the retrievers that have everything; empty while one lacks some."""

_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE documents (
    id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE, state INTEGER NOT NULL,
    signature TEXT NOT NULL, hash BLOB NOT NULL, size INTEGER NOT NULL DEFAULT 0,
    reason TEXT NOT NULL DEFAULT '', known_as TEXT NOT NULL DEFAULT '',
    title TEXT NOT NULL DEFAULT '', created REAL NOT NULL DEFAULT 0,
    updated REAL NOT NULL DEFAULT 0,
    hidden INTEGER NOT NULL DEFAULT 0, data TEXT NOT NULL DEFAULT '{}'
);
CREATE INDEX documents_state ON documents (state) WHERE state <> 1;
CREATE INDEX documents_hidden ON documents (hidden) WHERE hidden = 1;
CREATE TABLE fields (
    document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
    key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (document, key, value)
) WITHOUT ROWID;
CREATE INDEX fields_key ON fields (key, value);
CREATE TABLE names (
    name INTEGER NOT NULL, rank INTEGER NOT NULL,
    document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
    PRIMARY KEY (name, rank, document)
) WITHOUT ROWID;
CREATE INDEX names_document ON names (document);
CREATE TABLE sections (
    document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE, ordinal INTEGER NOT NULL,
    line INTEGER NOT NULL, end_line INTEGER NOT NULL, headings TEXT NOT NULL,
    PRIMARY KEY (document, ordinal)
) WITHOUT ROWID;
CREATE TABLE passages (
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
    section INTEGER NOT NULL, line INTEGER NOT NULL, end_line INTEGER NOT NULL,
    words INTEGER NOT NULL, code INTEGER NOT NULL
);
CREATE INDEX passages_document ON passages (document);
CREATE TABLE anchors (
    document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
    anchor TEXT NOT NULL, line INTEGER NOT NULL, PRIMARY KEY (document, anchor)
) WITHOUT ROWID;
CREATE TABLE links (
    id INTEGER PRIMARY KEY, document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
    line INTEGER NOT NULL, kind TEXT NOT NULL, type TEXT NOT NULL, target TEXT NOT NULL,
    name INTEGER NOT NULL, second_name INTEGER NOT NULL, ghost TEXT NOT NULL, heading TEXT NOT NULL,
    anchor TEXT NOT NULL, text TEXT NOT NULL, before TEXT NOT NULL, after TEXT NOT NULL,
    dest INTEGER, ambiguous INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX links_document ON links (document);
CREATE INDEX links_name ON links (name);
CREATE INDEX links_second ON links (second_name) WHERE second_name <> 0;
CREATE INDEX links_dest ON links (dest);
CREATE INDEX links_type ON links (type) WHERE type <> 'related_to';
CREATE TABLE faults (
    document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE, line INTEGER NOT NULL,
    reason TEXT NOT NULL
);
CREATE INDEX faults_document ON faults (document);
CREATE TABLE refused (key TEXT PRIMARY KEY, reason TEXT NOT NULL) WITHOUT ROWID
"""

Table = TypeVar("Table")


def filled_key(retriever: str) -> str:
    """Return the key under which the version is kept that a retriever was filled in."""
    return f"filled:{retriever}"


class Manifest:
    """One manifest, opened. Other modules ask it by the functions of this package."""

    def __init__(self, file: Path, index_id: str = "", *, make: bool = True) -> None:
        """Open the manifest, making an empty one where there is none, unless told not to.

        It knows the id of the folder that it was made for: a file that a repository or a copy puts
        in its place is not believed. Raises IndexDamaged.
        """
        self.file = file
        self._identity = sqlite.identity(file)
        self._cached: dict[Callable[[Manifest], Any], tuple[tuple[int, int], Any]] = {}
        owner = os.urandom(16).hex()
        born = f";\nINSERT INTO meta VALUES ('owner', '{owner}'), ('index', '{index_id}')"
        self._base = sqlite.connect(file, _TABLES + born, VERSION, make=make)
        self._identity = sqlite.identity(file) if make else self._identity
        with sqlite.guarded(file):
            found = self.meta("index")
            self.owner = str(self.meta("owner"))
            """What tells this manifest from any other, made before or after it."""
        if found != index_id:
            self.close()
            raise IndexDamaged(f"{file} was made for another index", "it is rebuilt")

    def current(self) -> bool:
        """Tell whether the file that is open still has its name."""
        return sqlite.identity(self.file) == self._identity

    def execute(self, sql: str, values: Sequence[Any] = ()) -> Cursor:
        """Run a statement."""
        return self._base.execute(sql, values)

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run a statement for each row of values."""
        self._base.executemany(sql, rows)

    def chunked(self, sql: str, values: Sequence[int] | Sequence[str]) -> list[tuple[Any, ...]]:
        """Run a statement with `IN ({})` over any number of values."""
        return list(sqlite.chunked(self._base, sql, values))

    def transaction(self) -> AbstractContextManager[None]:
        """Commit everything done inside, or nothing."""
        return sqlite.transaction(self._base)

    def guarded(self) -> AbstractContextManager[None]:
        """Turn SQLite's errors into ours."""
        return sqlite.guarded(self.file)

    def version(self) -> int:
        """Return a number that changes when another connection commits."""
        return sqlite.version(self._base)

    def cached(self, load: Callable[[Manifest], Table]) -> Table | None:
        """Return what `load` gives, kept as long as no one writes.

        It is loaded when it is asked for a second time in the same state; None before that: who
        asks once reads the few rows that are needed.
        """
        state = self.version(), self._base.total_changes
        known, table = self._cached.get(load, (None, None))
        if known != state:
            self._cached[load] = state, None
            return None
        if table is None:
            table = load(self)
            self._cached[load] = state, table
        found: Table = table
        return found

    def meta(self, key: str) -> str | None:
        """Return a fact about the whole index; None when it was never recorded."""
        row = self._base.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    def put_meta(self, key: str, value: str) -> None:
        """Record a fact about the whole index."""
        sql = "INSERT INTO meta VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = ?2"
        self._base.execute(sql, (key, value))

    def unfinished(self) -> bool:
        """Tell whether a batch is in the middle of its work, or was killed there."""
        # as the index of states has it: SQLite compares the words, not their meaning
        sql = (
            f"SELECT 1 FROM documents WHERE state <> {DONE} AND state IN ({PENDING}, {GONE})"
            " LIMIT 1"
        )
        return self._base.execute(sql).fetchone() is not None

    def check(self) -> None:
        """Raise IndexDamaged when the file is not whole."""
        with self.guarded():
            (answer,) = self._base.execute("PRAGMA quick_check(1)").fetchone()
        if answer != "ok":
            raise IndexDamaged(f"{self.file} is damaged: {answer}", "it is rebuilt")

    def settle(self) -> None:
        """Empty the write-ahead log, unless someone reads just now."""
        sqlite.settle(self._base)

    def close(self) -> None:
        """Let go of the file."""
        self._base.close()
