"""A retriever's database: made for one bank, opened when needed, written in one transaction."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from memory_bank import sqlite
from memory_bank.errors import IndexDamaged, StorageFailed
from memory_bank.sqlite import Connection


class VectorDatabase(sqlite.Opened):
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
        super().__init__(file, tables, version)
        self._owner = owner
        self._closed = closed

    def begun(self) -> Connection:
        """Return the connection in a transaction, which `commit` ends."""
        base = self.opened()
        if not base.in_transaction:
            base.execute("BEGIN IMMEDIATE")
        return base

    def commit(self) -> None:
        """Make what was written durable."""
        if self._base is not None and self._base.in_transaction:
            if not self.current():
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
        base = super()._connect()
        with sqlite.guarded(self.file):
            base.execute("INSERT OR REPLACE INTO meta VALUES ('owner', ?)", (self._owner,))
        return self._hold(base)

    def state(self) -> str:
        """Return the signatures of the file and of its write-ahead log, where there is one."""
        files = (self.file, self.file.with_name(f"{self.file.name}-wal"))
        return repr([_signature(file) for file in files])

    def check(self) -> None:
        """Raise IndexDamaged unless the file is whole."""
        with sqlite.guarded(self.file):
            (answer,) = self.opened().execute("PRAGMA quick_check(1)").fetchone()
        if answer != "ok":
            raise IndexDamaged(f"{self.file} is damaged: {answer}", "it is made again")

    def close(self) -> None:
        """Close the connection; what was not committed is dropped."""
        if self._base is not None:
            self._closed()
        super().close()

    def _connect(self) -> Connection:
        """Open the file; raise IndexDamaged when it is missing or another bank's."""
        if not self.file.is_file():
            raise IndexDamaged(f"{self.file} is missing", "it is made again")
        base = super()._connect()
        row = base.execute("SELECT value FROM meta WHERE key = 'owner'").fetchone()
        if row is None or row[0] != self._owner:
            base.close()
            raise IndexDamaged(f"{self.file} is of another bank", "it is made again")
        return base


def _signature(file: Path) -> tuple[int, int, int] | None:
    try:
        found = file.stat()
    except FileNotFoundError:
        return None
    return found.st_size, found.st_mtime_ns, found.st_ino
