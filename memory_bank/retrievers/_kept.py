"""A retriever's database: made for one bank, opened when needed, written in one transaction."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from memory_bank import sqlite
from memory_bank.errors import IndexDamaged, StorageFailed
from memory_bank.notes.scan import stamp
from memory_bank.sqlite import Connection


class Kept:
    """One SQLite file with a table `meta`, taken for damaged when another `owner` filled it."""

    def __init__(
        self,
        file: Path,
        tables: str,
        version: int,
        owner: str,
        closed: Callable[[], object] = lambda: None,
    ) -> None:
        """Open nothing yet.

        `closed` is told when what was read is out of date, for the file was closed or replaced.
        """
        self.file = file
        self._tables = tables
        self._version = version
        self._owner = owner
        self._closed = closed
        self._base: Connection | None = None
        self._opened_file: sqlite.Identity = None

    def opened(self) -> Connection:
        """Return the connection; raise IndexDamaged when the file is missing or another bank's."""
        if self._base is not None and sqlite.identity(self.file) != self._opened_file:
            self.close()  # deleted or replaced by another process
        if self._base is None:
            if not self.file.is_file():
                raise IndexDamaged(f"{self.file} is missing", "it is made again")
            base = sqlite.connect(self.file, self._tables, self._version)
            row = base.execute("SELECT value FROM meta WHERE key = 'owner'").fetchone()
            if row is None or row[0] != self._owner:
                base.close()
                raise IndexDamaged(f"{self.file} is of another bank", "it is made again")
            self._base, self._opened_file = base, sqlite.identity(self.file)
        return self._base

    def begun(self) -> Connection:
        """Return the connection in a transaction, which `commit` ends."""
        base = self.opened()
        if not base.in_transaction:
            base.execute("BEGIN IMMEDIATE")
        return base

    def commit(self) -> None:
        """Make what was written durable."""
        if self._base is not None and self._base.in_transaction:
            if sqlite.identity(self.file) != self._opened_file:
                raise IndexDamaged(f"{self.file} was replaced", "it is made again")
            with sqlite.guarded(self.file):
                self._base.execute("COMMIT")

    def start(self) -> Connection:
        """Open the file, made where there is none, as this owner's."""
        self.close()
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            reason = f"{self.file.parent} can't be written: {error.strerror}"
            raise StorageFailed(reason) from error
        base = sqlite.connect(self.file, self._tables, self._version)
        with sqlite.guarded(self.file):
            base.execute("INSERT OR REPLACE INTO meta VALUES ('owner', ?)", (self._owner,))
        self._base, self._opened_file = base, sqlite.identity(self.file)
        return base

    def state(self) -> str:
        """Return the stamps of the file and of its write-ahead log, where there is one."""
        files = (self.file, self.file.with_name(f"{self.file.name}-wal"))
        return repr([stamp(file) for file in files])

    def check(self) -> None:
        """Raise IndexDamaged unless the file is whole."""
        with sqlite.guarded(self.file):
            (answer,) = self.opened().execute("PRAGMA quick_check(1)").fetchone()
        if answer != "ok":
            raise IndexDamaged(f"{self.file} is damaged: {answer}", "it is made again")

    def close(self) -> None:
        """Close the connection; what was not committed is dropped."""
        if self._base is not None:
            sqlite.keep_mapped(self.file)
            self._base.close()
            self._closed()
        self._base = None
