"""What this machine records of a bank's notes in `state.db`: accesses, agents, updates."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from sqlite3 import Connection
from typing import Any

from memory_bank.base import locks, sqlite
from memory_bank.base.durable import DurableFile, set_aside
from memory_bank.base.errors import Busy, IndexDamaged, StorageFailed
from memory_bank.base.repairs import Repaired, ignore_repair
from memory_bank.search.retrievers.base import Access

_VERSION = 1

_TABLES = """
CREATE TABLE accesses (
    note TEXT PRIMARY KEY, count INTEGER NOT NULL, last REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE openings (
    note TEXT PRIMARY KEY, count INTEGER NOT NULL, last REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE writes (
    note TEXT NOT NULL, agent TEXT NOT NULL, time REAL NOT NULL, PRIMARY KEY (note, time, agent)
) WITHOUT ROWID;
CREATE TABLE updates (note TEXT PRIMARY KEY, last REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE heads (
    etag TEXT PRIMARY KEY, head TEXT NOT NULL, time REAL NOT NULL
) WITHOUT ROWID
"""

_TABLES_OF_NOTES = ("accesses", "openings", "writes", "updates")
"""Those whose column `note` has the id of a note, or its path if it has none."""

MOST = 2**63 - 1
"""Maximum count: SQLite converts a larger integer to an inexact number."""

_MOST_HEADS = 10_000
"""Number of versions of notes whose commit is kept: the newest."""

_UNCOUNTED = "accesses are not counted"
_UNRECORDED = "who changed it is not written down"
_UNDATED = "when it was updated is not written down"
"""Starts of the messages when nothing can be written."""

_ADD_UPDATE = "INSERT INTO updates VALUES (?1, ?2) ON CONFLICT DO UPDATE SET last = max(last, ?2)"

Rows = Sequence[tuple[object, ...]]


class BankState(DurableFile):
    """The records of one bank, by the note's id, or its path if it has none.

    Reading never fails; a method that writes returns why that failed, or an empty text. It may be
    used from several threads.
    """

    content = "accesses and edits"
    probe = "SELECT 1 FROM accesses, openings, writes, updates, heads LIMIT 0"

    def __init__(self, folder: Path, repaired: Repaired = ignore_repair) -> None:
        """Keep the file in `folder`, the bank's private state; take over what former files had."""
        super().__init__(folder / "state.db", _TABLES, _VERSION, repaired)
        self._lock = threading.Lock()
        with suppress(Busy, IndexDamaged, StorageFailed, OSError):  # else the next time
            for name in _FORMER:
                if (folder / name).exists():
                    self._run(partial(self._take_over, folder / name))

    def accesses(self, notes: Iterable[str]) -> Mapping[str, Access]:
        """Return the accesses of some notes; those never accessed are left out."""
        note_list = list(notes)
        returned, opened = (
            {
                note: (min(int(count), MOST), last)
                for note, count, last in self._read(
                    f"SELECT note, count, last FROM {table} WHERE note IN ({{}})", note_list
                )
            }
            for table in ("accesses", "openings")
        )
        never = (0, 0.0)
        return {
            note: Access(*returned.get(note, never), *opened.get(note, never))
            for note in returned.keys() | opened.keys()
        }

    def count_returned(self, notes: Iterable[str], now: float) -> str:
        """Count that each note was returned."""
        return self._count("accesses", notes, now)

    def count_opened(self, notes: Iterable[str], now: float) -> str:
        """Count that each note was opened, cited or confirmed."""
        return self._count("openings", notes, now)

    def _count(self, table: str, notes: Iterable[str], now: float) -> str:
        sql = (
            f"INSERT INTO {table} VALUES (?1, 1, ?2)"
            f" ON CONFLICT DO UPDATE SET count = min(count, {MOST - 1}) + 1, last = max(last, ?2)"
        )
        return self._record(_UNCOUNTED, (sql, [(note, now) for note in notes]))

    def writers(self, notes: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
        """Return the agents that changed some notes, the first one first; the others left out."""
        rows = self._read(
            "SELECT note, min(time), agent FROM writes WHERE note IN ({}) GROUP BY note, agent",
            notes,
        )
        entries: dict[str, list[str]] = {}
        for note, _, agent in sorted(set(rows)):
            entries.setdefault(note, []).append(agent)
        return {note: tuple(agents) for note, agents in entries.items()}

    def written_notes(self) -> frozenset[str]:
        """Return the notes that agents are known to have changed."""
        return frozenset(note for (note,) in self._read("SELECT DISTINCT note FROM writes"))

    def write_times(self, notes: Iterable[str]) -> tuple[tuple[float, str], ...]:
        """Return when agents changed some notes, in seconds since 1970, the first time first."""
        rows = self._read("SELECT time, agent FROM writes WHERE note IN ({})", notes)
        return tuple(sorted(set(rows)))

    def add_writes(self, notes: Iterable[str], agent: str, now: float) -> str:
        """Record that an agent changed notes, at a time in seconds since the epoch."""
        rows = [(note, agent, now) for note in notes]
        return self._record(_UNRECORDED, ("INSERT OR IGNORE INTO writes VALUES (?, ?, ?)", rows))

    def inherit_writes(self, note: str, sources: Iterable[str]) -> str:
        """Add the agents of merged notes to a note."""
        sql = "INSERT OR IGNORE INTO writes SELECT ?1, agent, time FROM writes WHERE note = ?2"
        return self._correct((sql, [(note, source) for source in sources]))

    def updates(self) -> Mapping[str, float]:
        """Return when notes were updated, in seconds since the epoch; others are left out."""
        return dict(self._read("SELECT note, last FROM updates"))

    def add_update(self, note: str, now: float) -> str:
        """Record that a note was updated."""
        return self._record(_UNDATED, (_ADD_UPDATE, [(note, now)]))

    def add_heads(self, etags: Iterable[str], head: str, now: float) -> str:
        """Record the commit that was checked out when contents of notes were written."""
        oldest = "SELECT etag FROM heads ORDER BY time DESC LIMIT -1 OFFSET ?"
        return self._record(
            _UNDATED,
            (
                "INSERT OR REPLACE INTO heads VALUES (?, ?, ?)",
                [(etag, head, now) for etag in etags],
            ),
            (f"DELETE FROM heads WHERE etag IN ({oldest})", [(_MOST_HEADS,)]),
        )

    def head(self, etag: str) -> str:
        """Return the commit that was checked out when a content was written; empty if unknown."""
        rows = self._read("SELECT head FROM heads WHERE etag IN ({})", [etag])
        return str(rows[0][0]) if rows else ""

    def forget(self, notes: Iterable[str]) -> str:
        """Remove notes that no longer exist."""
        rows = [(note,) for note in notes]
        return self._correct(
            *((f"DELETE FROM {table} WHERE note = ?", rows) for table in _TABLES_OF_NOTES)
        )

    def rename(self, old: str, new: str) -> str:
        """Rename a note."""
        return self._correct(
            *(
                (f"UPDATE OR REPLACE {table} SET note = ? WHERE note = ?", [(new, old)])
                for table in _TABLES_OF_NOTES
            )
        )

    def _read(self, sql: str, values: Iterable[str] | None = None) -> list[tuple[Any, ...]]:
        """Return the rows of a statement, with `IN ({})` for values; none if they can't be read."""
        entries = None if values is None else list(values)
        if not self.file.exists():
            return []

        def work(base: Connection) -> list[tuple[Any, ...]]:
            if entries is None:
                return base.execute(sql).fetchall()
            return list(sqlite.execute_chunked(base, sql, entries))

        with suppress(Busy, IndexDamaged, StorageFailed), self._lock:
            return self._run(work)
        return []  # an answer must not fail for it

    def _correct(self, *statements: tuple[str, Rows]) -> str:
        """Change what is recorded, if anything is."""
        return self._record(_UNRECORDED, *statements) if self.file.exists() else ""

    def _record(self, lost: str, *statements: tuple[str, Rows]) -> str:
        """Run statements in one transaction; return why that failed, starting with what is lost."""

        def work(base: Connection) -> None:
            for sql, rows in statements:
                base.executemany(sql, rows)

        try:
            with self._lock:
                self._write(work)
        except (Busy, IndexDamaged, StorageFailed) as error:
            return f"{lost}: {error.message}"
        return ""

    def _take_over(self, former: Path, base: Connection) -> None:
        """Move the rows of a file of an older version here, and remove it; set aside a damaged one.

        A crash between the commits of both files must not count its rows again. So the file has a
        random mark first, and the commit here says which mark was taken over.
        """
        with locks.hold_lock(former.parent):
            if not former.exists():
                return  # another process has just done it
            try:
                with closing(sqlite.connect(former, "", _VERSION, make=False)) as former_base:
                    mark, rows = _mark_former(former_base, former)
                    _add(base, mark, rows)  # an error here is none of the former file
                    with sqlite.convert_errors(former):
                        _empty(former_base, rows)
            except IndexDamaged:
                set_aside(former)
                self._repaired(_FORMER[former.name])
            else:
                with suppress(OSError):  # an older version has it open, on Windows
                    sqlite.discard(former)


_FORMER = {"access.db": "accesses", "edits.db": "edits", "updates.db": "updates"}
"""The files of older versions, and what an answer says of one that was damaged."""

_ADD_COUNT = f"""
INSERT INTO {{}} VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET
    count = min(count, {MOST} - ?2) + ?2, last = max(last, ?3)
"""

_ADDED = {
    "accesses": _ADD_COUNT.format("accesses"),
    "openings": _ADD_COUNT.format("openings"),
    "writes": "INSERT OR IGNORE INTO writes VALUES (?, ?, ?)",
    "edits": "INSERT OR IGNORE INTO writes VALUES (?1, ?2, ?3), (?1, ?2, ?4)",
    "updates": _ADD_UPDATE,
    "heads": """
INSERT INTO heads VALUES (?1, ?2, ?3)
ON CONFLICT DO UPDATE SET head = ?2, time = ?3 WHERE ?3 > time
""",
}
"""What adds a row of each table of a former file; `edits` had the first and last change."""

_FormerRows = dict[str, list[tuple[object, ...]]]


def _mark_former(base: Connection, former: Path) -> tuple[int, _FormerRows]:
    """Mark a former file; lock it, and return its mark and its rows by table."""
    with sqlite.convert_errors(former):
        base.execute("PRAGMA synchronous = FULL")
        base.execute("BEGIN IMMEDIATE")
        (mark,) = base.execute("PRAGMA application_id").fetchone()
        if not mark:
            mark = int.from_bytes(os.urandom(3)) + 1
            base.execute(f"PRAGMA application_id = {mark}")
            base.execute("COMMIT")
            base.execute("BEGIN IMMEDIATE")
        tables = base.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        return mark, {
            table: base.execute(f"SELECT * FROM {table}").fetchall()
            for (table,) in tables
            if table in _ADDED
        }


def _add(base: Connection, mark: int, rows: _FormerRows) -> None:
    """Add the rows of a former file, unless they were added before a crash."""
    base.execute("PRAGMA synchronous = FULL")
    with sqlite.transaction(base):
        if base.execute("PRAGMA application_id").fetchone() != (mark,):
            for table, table_rows in rows.items():
                base.executemany(_ADDED[table], table_rows)
            base.execute(f"PRAGMA application_id = {mark}")
    base.execute("PRAGMA synchronous = NORMAL")


def _empty(base: Connection, tables: Iterable[str]) -> None:
    """Empty a locked file: an older version that has it open goes on with it, on Windows."""
    for table in tables:
        base.execute(f"DELETE FROM {table}")
    base.execute("PRAGMA application_id = 0")
    base.execute("COMMIT")
