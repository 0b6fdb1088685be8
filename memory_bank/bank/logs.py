"""The private logs of a bank on this machine: accesses, edits by agents, times of updates."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from sqlite3 import Connection
from typing import Any

from memory_bank.base import sqlite
from memory_bank.base.errors import Busy, IndexDamaged, StorageFailed
from memory_bank.base.repairs import ACCESSES, EDITS, UPDATES, Repaired
from memory_bank.search.retrievers.base import Access

_VERSION = 1


class Log(sqlite.Opened):
    """A file in the private state of this machine; reading never fails and makes no file.

    It may be used from several threads.
    """

    name = ""
    """Of the file."""
    made = ""
    """The statement that makes its first table."""
    lost = "it is not written down"
    """Start of the message when nothing can be written."""
    tables: tuple[str, ...] = ()
    """The tables of notes, whose column `note` has their ids or paths."""
    added = ""
    """The statement that adds a table to logs that were made without it: the version stays, since a
    log can't be rebuilt."""

    def __init__(self, folder: Path, repaired: Callable[[], object] = lambda: None) -> None:
        """Keep the file in `folder`; `repaired` is called when it had to be started again."""
        super().__init__(folder / self.name, self.made, _VERSION)
        self._repaired = repaired
        self._lock = threading.Lock()

    def read(self, sql: str, values: Iterable[str] | None = None) -> list[tuple[Any, ...]]:
        """Return the rows of a statement, with `IN ({})` for values; none if they can't be read."""
        entries = None if values is None else list(values)
        if not self.file.exists():
            return []
        try:
            with self._lock, sqlite.guarded(self.file):
                if entries is None:
                    return self.opened().execute(sql).fetchall()
                return list(sqlite.chunked(self.opened(), sql, entries))
        except (Busy, IndexDamaged, StorageFailed):
            return []  # an answer must not fail for it

    def write(self, sql: str, rows: Sequence[tuple[object, ...]]) -> str:
        """Write rows; return why that failed, or an empty text."""
        try:
            with self._lock:
                try:
                    self._execute(sql, rows)
                except IndexDamaged:
                    self._set_aside()
                    self._execute(sql, rows)
        except (Busy, IndexDamaged, StorageFailed) as error:
            return f"{self.lost}: {error.message}"
        return ""

    def forget(self, notes: Iterable[str]) -> str:
        """Remove notes that no longer exist; return why that failed, or an empty text."""
        return self._each("DELETE FROM {} WHERE note = ?", [(note,) for note in notes])

    def rename(self, old: str, new: str) -> str:
        """Rename a note; return why that failed, or an empty text."""
        return self._each("UPDATE OR REPLACE {} SET note = ? WHERE note = ?", [(new, old)])

    def _each(self, sql: str, rows: Sequence[tuple[object, ...]]) -> str:
        """Run a statement on all tables of notes; return why that failed, or an empty text."""
        if not self.file.exists():
            return ""
        return next(
            filter(None, (self.write(sql.format(table), rows) for table in self.tables)), ""
        )

    def _execute(self, sql: str, rows: Sequence[tuple[object, ...]]) -> None:
        with sqlite.guarded(self.file):
            base = self.opened()
            with sqlite.transaction(base):
                base.executemany(sql, rows)

    def _set_aside(self) -> None:
        self.close()
        try:
            self.file.replace(self.file.with_name(f"{self.file.name}.damaged"))
            sqlite.discard(self.file)
        except OSError as error:
            raise StorageFailed(f"{self.file} can't be replaced: {error.strerror}") from error
        self._repaired()

    def _connect(self) -> Connection:
        """Open the file in a folder with permissions for the user only."""
        folder = self.file.parent
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise StorageFailed(f"{folder} can't be made: {error.strerror}") from error
        base = super()._connect()
        if self.added:
            with sqlite.guarded(self.file):
                base.execute(self.added)
        return base


_ACCESS_TABLE = """
CREATE TABLE accesses (
    note TEXT PRIMARY KEY, count INTEGER NOT NULL, last REAL NOT NULL
) WITHOUT ROWID
"""

_OPENINGS = """
CREATE TABLE IF NOT EXISTS openings (
    note TEXT PRIMARY KEY, count INTEGER NOT NULL, last REAL NOT NULL
) WITHOUT ROWID
"""

MOST = 2**63 - 1
"""Maximum count: SQLite converts a larger integer to an inexact number."""


class AccessLog(Log):
    """The counts of one bank, by the note's id, or its path if it has none."""

    name, made = "access.db", _ACCESS_TABLE
    lost = "accesses are not counted"
    tables = ("accesses", "openings")
    added = _OPENINGS

    def of(self, notes: Iterable[str]) -> Mapping[str, Access]:
        """Return the accesses of some notes; those never accessed are left out."""
        wanted_notes = list(notes)
        sql = "SELECT note, count, last FROM {} WHERE note IN ({{}})"
        returned, opened = (
            {
                note: (min(int(count), MOST), last)
                for note, count, last in self.read(sql.format(table), wanted_notes)
            }
            for table in ("accesses", "openings")
        )
        never = (0, 0.0)
        return {
            note: Access(*returned.get(note, never), *opened.get(note, never))
            for note in returned.keys() | opened.keys()
        }

    def add(self, notes: Iterable[str], now: float) -> str:
        """Count that each note was returned; return why that can't be done, if so."""
        return self._count("accesses", notes, now)

    def open(self, notes: Iterable[str], now: float) -> str:
        """Count that each note was opened, cited or confirmed; return why that can't be done."""
        return self._count("openings", notes, now)

    def _count(self, table: str, notes: Iterable[str], now: float) -> str:
        return self.write(
            f"INSERT INTO {table} VALUES (?1, 1, ?2)"
            f" ON CONFLICT DO UPDATE SET count = min(count, {MOST - 1}) + 1, last = max(last, ?2)",
            [(note, now) for note in notes],
        )


_WRITES = """
CREATE TABLE IF NOT EXISTS writes (
    note TEXT NOT NULL, agent TEXT NOT NULL, time REAL NOT NULL, PRIMARY KEY (note, time, agent)
) WITHOUT ROWID
"""


class EditLog(Log):
    """The agents that changed each note, by the note's id, or its path if it has none."""

    name = "edits.db"
    made = added = _WRITES
    lost = "who changed it is not written down"
    tables = ("writes",)

    def of(self, notes: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
        """Return the agents that changed some notes, the first one first; the others left out."""
        rows = self.read(
            "SELECT note, min(time), agent FROM writes WHERE note IN ({}) GROUP BY note, agent",
            notes,
        )
        entries: dict[str, list[str]] = {}
        for note, _, agent in sorted(set(rows)):
            entries.setdefault(note, []).append(agent)
        return {note: tuple(agents) for note, agents in entries.items()}

    def names(self) -> frozenset[str]:
        """Return the notes that agents are known to have changed."""
        return frozenset(note for (note,) in self.read("SELECT DISTINCT note FROM writes"))

    def times(self, notes: Iterable[str]) -> tuple[tuple[float, str], ...]:
        """Return when agents changed some notes, in seconds since 1970, the first time first."""
        return tuple(
            sorted(set(self.read("SELECT time, agent FROM writes WHERE note IN ({})", notes)))
        )

    def add(self, notes: Iterable[str], agent: str, now: float) -> str:
        """Record that an agent changed notes, at a time in seconds since the epoch.

        Returns why that failed, or an empty text.
        """
        rows = [(note, agent, now) for note in notes]
        return self.write("INSERT OR IGNORE INTO writes VALUES (?, ?, ?)", rows)

    def inherit(self, note: str, sources: Iterable[str]) -> str:
        """Add the agents of merged notes to a note; return why that failed, or an empty text."""
        if not self.file.exists():
            return ""
        return self.write(
            "INSERT OR IGNORE INTO writes SELECT ?1, agent, time FROM writes WHERE note = ?2",
            [(note, source) for source in sources],
        )


_UPDATE_TABLE = "CREATE TABLE updates (note TEXT PRIMARY KEY, last REAL NOT NULL) WITHOUT ROWID"

_HEADS = """
CREATE TABLE IF NOT EXISTS heads (
    etag TEXT PRIMARY KEY, head TEXT NOT NULL, time REAL NOT NULL
) WITHOUT ROWID
"""

_MOST_HEADS = 10_000
"""Number of versions of notes whose commit is kept: the newest."""


class UpdateLog(Log):
    """The time of each note's last update, by the note's id, or its path if it has none."""

    name, made = "updates.db", _UPDATE_TABLE
    lost = "when it was updated is not written down"
    tables = ("updates",)
    added = _HEADS

    def all(self) -> Mapping[str, float]:
        """Return when notes were updated, in seconds since the epoch; others are left out."""
        return dict(self.read("SELECT note, last FROM updates"))

    def add(self, note: str, now: float) -> str:
        """Record that a note was updated; return why that failed, or an empty text."""
        return self.write(
            "INSERT INTO updates VALUES (?1, ?2) ON CONFLICT DO UPDATE SET last = max(last, ?2)",
            [(note, now)],
        )

    def wrote(self, etags: Iterable[str], head: str, now: float) -> str:
        """Record the commit that was checked out when contents of notes were written.

        Returns why that failed, or an empty text.
        """
        oldest = "SELECT etag FROM heads ORDER BY time DESC LIMIT -1 OFFSET ?"
        return self.write(
            "INSERT OR REPLACE INTO heads VALUES (?, ?, ?)", [(etag, head, now) for etag in etags]
        ) or self.write(f"DELETE FROM heads WHERE etag IN ({oldest})", [(_MOST_HEADS,)])

    def head(self, etag: str) -> str:
        """Return the commit that was checked out when a content was written; empty if unknown."""
        rows = self.read("SELECT head FROM heads WHERE etag IN ({})", [etag])
        return str(rows[0][0]) if rows else ""


class Logs:
    """The logs of one bank; the file of each is opened when it is needed."""

    def __init__(self, folder: Path, repaired: Repaired) -> None:
        """Keep them in `folder`; `repaired` is told which had to be started again."""
        self.access = AccessLog(folder, partial(repaired, ACCESSES))
        self.edits = EditLog(folder, partial(repaired, EDITS))
        self.updates = UpdateLog(folder, partial(repaired, UPDATES))

    def all(self) -> tuple[Log, ...]:
        """Return all of them."""
        return self.access, self.edits, self.updates

    def close(self) -> None:
        """Let go of their files."""
        for log in self.all():
            log.close()
