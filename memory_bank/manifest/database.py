"""The manifest's file: its tables and the states of a note."""

from __future__ import annotations

import os
from pathlib import Path

from memory_bank import sqlite
from memory_bank.errors import IndexDamaged
from memory_bank.sqlite import Connection

VERSION = 9
"""Changes whenever the tables, or what is read from a note, change: the index is then rebuilt."""

SEPARATOR = "\x1f"
"""Between the headings of a path in one column."""

PENDING, DONE, UNINDEXED, GONE = range(4)
"""States of a note: rows written but not yet in every retriever; all done; not readable; deleted
but not yet out of every retriever."""

ETAG = "lower(hex(etag))"
"""The etag of a note as everybody else has it; the column has its bytes, half as many."""

_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE notes (
    id INTEGER PRIMARY KEY AUTOINCREMENT, path TEXT NOT NULL UNIQUE, state INTEGER NOT NULL,
    size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, ctime_ns INTEGER NOT NULL,
    inode INTEGER NOT NULL, etag BLOB NOT NULL, reason TEXT NOT NULL DEFAULT '',
    note_id TEXT NOT NULL DEFAULT '', title TEXT NOT NULL DEFAULT '',
    type TEXT NOT NULL DEFAULT '', status TEXT NOT NULL DEFAULT '',
    created REAL NOT NULL DEFAULT 0, updated REAL NOT NULL DEFAULT 0,
    dated INTEGER NOT NULL DEFAULT 1, said REAL, modified REAL NOT NULL DEFAULT 0,
    blob BLOB NOT NULL DEFAULT x'', content_hash BLOB NOT NULL DEFAULT x'',
    source_type TEXT NOT NULL DEFAULT '', meta TEXT NOT NULL DEFAULT '{}'
);
CREATE INDEX notes_hash ON notes (substr(content_hash, 1, 6));
CREATE INDEX notes_status ON notes (status) WHERE status <> 'active';
CREATE INDEX notes_state ON notes (state) WHERE state <> 1;
CREATE INDEX notes_undated ON notes (dated) WHERE dated = 0;
CREATE TABLE tags (
    note INTEGER NOT NULL REFERENCES notes ON DELETE CASCADE, tag TEXT NOT NULL,
    PRIMARY KEY (note, tag)
) WITHOUT ROWID;
CREATE INDEX tags_tag ON tags (tag);
CREATE TABLE fields (
    note INTEGER NOT NULL REFERENCES notes ON DELETE CASCADE,
    key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (note, key, value)
) WITHOUT ROWID;
CREATE INDEX fields_key ON fields (key, value);
CREATE TABLE names (
    name INTEGER NOT NULL, rank INTEGER NOT NULL,
    note INTEGER NOT NULL REFERENCES notes ON DELETE CASCADE, PRIMARY KEY (name, rank, note)
) WITHOUT ROWID;
CREATE INDEX names_note ON names (note);
CREATE TABLE sections (
    note INTEGER NOT NULL REFERENCES notes ON DELETE CASCADE, ordinal INTEGER NOT NULL,
    line INTEGER NOT NULL, end_line INTEGER NOT NULL, headings TEXT NOT NULL,
    PRIMARY KEY (note, ordinal)
) WITHOUT ROWID;
CREATE TABLE passages (
    row INTEGER PRIMARY KEY AUTOINCREMENT, note INTEGER NOT NULL REFERENCES notes ON DELETE CASCADE,
    section INTEGER NOT NULL, line INTEGER NOT NULL, end_line INTEGER NOT NULL,
    words INTEGER NOT NULL, signs INTEGER NOT NULL
);
CREATE INDEX passages_note ON passages (note);
CREATE TABLE blocks (
    note INTEGER NOT NULL REFERENCES notes ON DELETE CASCADE,
    block TEXT NOT NULL, line INTEGER NOT NULL, PRIMARY KEY (note, block)
) WITHOUT ROWID;
CREATE TABLE links (
    id INTEGER PRIMARY KEY, note INTEGER NOT NULL REFERENCES notes ON DELETE CASCADE,
    line INTEGER NOT NULL, kind TEXT NOT NULL, type TEXT NOT NULL, target TEXT NOT NULL,
    name INTEGER NOT NULL, second_name INTEGER NOT NULL, ghost TEXT NOT NULL, heading TEXT NOT NULL,
    block TEXT NOT NULL, text TEXT NOT NULL, before TEXT NOT NULL, after TEXT NOT NULL,
    dest INTEGER, ambiguous INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX links_note ON links (note);
CREATE INDEX links_name ON links (name);
CREATE INDEX links_second ON links (second_name) WHERE second_name <> 0;
CREATE INDEX links_dest ON links (dest);
CREATE INDEX links_type ON links (type) WHERE type <> 'related_to';
CREATE TABLE faults (
    note INTEGER NOT NULL REFERENCES notes ON DELETE CASCADE, line INTEGER NOT NULL,
    reason TEXT NOT NULL
);
CREATE INDEX faults_note ON faults (note);
CREATE TABLE refused (path TEXT PRIMARY KEY, reason TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE commits (
    path TEXT PRIMARY KEY, first REAL NOT NULL, last REAL NOT NULL, blob BLOB NOT NULL
) WITHOUT ROWID;
"""


MEAN_WORDS = "mean_words"
"""Key of the number of passages and their mean length in words, as last counted."""

COMPLETE = "complete"
"""Key of the signature of the retrievers that have everything; empty while one lacks something."""


def connect(file: Path, index_id: str = "", *, make: bool = True) -> Connection:
    """Open the manifest, making an empty one where there is none, unless told not to.

    It knows the id of the folder that it was made for: a file that a repository or a copy puts in
    its place is not believed. Raises IndexDamaged.
    """
    born = f"INSERT INTO meta VALUES ('owner', '{os.urandom(16).hex()}'), ('index', '{index_id}')"
    base = sqlite.connect(file, _TABLES + born, VERSION, make=make)
    with sqlite.guarded(file):
        found = meta(base, "index")
    if found != index_id:
        base.close()
        raise IndexDamaged(f"{file} was made for another index", "it is made again")
    return base


def owner(base: Connection) -> str:
    """Return what tells this manifest from any other, made before or after it."""
    return str(meta(base, "owner"))


def meta(base: Connection, key: str) -> str | None:
    """Return a fact about the whole index; None when it was never recorded."""
    row = base.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return None if row is None else str(row[0])


def complete(base: Connection, signature: str) -> bool:
    """Tell whether the retrievers of that signature have everything that was indexed."""
    return meta(base, COMPLETE) == signature


def check(base: Connection, file: Path) -> None:
    """Raise IndexDamaged when the manifest's file is not whole."""
    with sqlite.guarded(file):
        (answer,) = base.execute("PRAGMA quick_check(1)").fetchone()
    if answer != "ok":
        raise IndexDamaged(f"{file} is damaged: {answer}", "it is made again")


def unfinished(base: Connection) -> bool:
    """Tell whether a batch is in the middle of its work, or was killed there."""
    # as the index of states has it: SQLite compares the words, not their meaning
    sql = f"SELECT 1 FROM notes WHERE state <> {DONE} AND state IN ({PENDING}, {GONE}) LIMIT 1"
    return base.execute(sql).fetchone() is not None
