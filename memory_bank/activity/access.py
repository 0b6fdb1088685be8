"""How often and when notes were accessed; kept in the state folder of this machine."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from memory_bank import sqlite
from memory_bank.errors import Busy, IndexDamaged, StorageFailed

_TABLES = """
CREATE TABLE accesses (
    note TEXT PRIMARY KEY, count INTEGER NOT NULL, last REAL NOT NULL
) WITHOUT ROWID
"""
_VERSION = 1


MOST = 2**63 - 1
"""Accesses that are counted: SQLite makes an inexact number of one more."""


class Access(NamedTuple):
    """How often a note was accessed, and when last (seconds since the epoch)."""

    times: int = 0
    last: float = 0.0


NEVER = Access()


class AccessLog(sqlite.Opened):
    """The counts of one bank; a note is known by its id, or by its path if it has none."""

    def __init__(self, folder: Path, healed: Callable[[], object] = lambda: None) -> None:
        """Keep the counts in `folder`; `healed` is called when they had to be begun anew."""
        super().__init__(folder / "access.db", _TABLES, _VERSION)
        self._healed = healed

    def of(self, notes: Iterable[str]) -> Mapping[str, Access]:
        """Return what is known of some notes; those never accessed are left out."""
        wanted = list(notes)
        if not self.file.exists():
            return {}
        sql = "SELECT note, count, last FROM accesses WHERE note IN ({})"
        try:
            with sqlite.guarded(self.file):
                rows = list(sqlite.chunked(self.opened(), sql, wanted))
        except (Busy, IndexDamaged, StorageFailed):
            return {}  # counts only nudge the ranking: an answer must not fail for them
        return {note: Access(min(int(count), MOST), last) for note, count, last in rows}

    def add(self, notes: Iterable[str], now: float) -> str:
        """Count one more access of each note; return why that can't be done, if so."""
        return self._write(
            "INSERT INTO accesses VALUES (?1, 1, ?2)"
            f" ON CONFLICT DO UPDATE SET count = min(count, {MOST - 1}) + 1, last = max(last, ?2)",
            [(note, now) for note in notes],
        )

    def rename(self, old: str, new: str) -> str:
        """Carry a note's counts over to its new path; return why that can't be done, if so."""
        if not self.file.exists():
            return ""
        return self._write("UPDATE OR REPLACE accesses SET note = ? WHERE note = ?", [(new, old)])

    def _write(self, sql: str, rows: Sequence[tuple[object, ...]]) -> str:
        """Write rows; a damaged file is set aside for a new one: it can't be made again."""
        try:
            try:
                self._execute(sql, rows)
            except IndexDamaged:
                self._set_aside()
                self._execute(sql, rows)
        except (Busy, IndexDamaged, StorageFailed) as error:
            return f"accesses are not counted: {error.message}"
        return ""

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
        self._healed()

    def _connect(self) -> sqlite.Connection:
        """Open the file in a folder that is the user's alone."""
        folder = self.file.parent
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise StorageFailed(f"{folder} can't be made: {error.strerror}") from error
        return super()._connect()
