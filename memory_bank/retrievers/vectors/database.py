"""The database of the vector index, which belongs to one bank."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from memory_bank import sqlite
from memory_bank.errors import IndexDamaged, StorageFailed
from memory_bank.sqlite import Connection


class VectorDatabase(sqlite.Opened):
    """A SQLite file with a table `meta`; one of another `owner` counts as damaged."""

    def __init__(
        self,
        file: Path,
        tables: str,
        version: int,
        owner: str,
        closed: Callable[[], object] = lambda: None,
    ) -> None:
        """Open nothing yet.

        `closed` is called when the file is closed or was replaced, so that cached data is outdated.
        """
        super().__init__(file, tables, version)
        self._owner = owner
        self._closed = closed

    def in_transaction(self) -> Connection:
        """Return the connection, in a transaction that `commit` ends."""
        base = self.opened()
        if not base.in_transaction:
            base.execute("BEGIN IMMEDIATE")
        return base

    def commit(self) -> None:
        """Make what was written durable."""
        if self._base is not None and self._base.in_transaction:
            if not self.current():
                raise IndexDamaged(f"{self.file} was replaced", "it is rebuilt")
            with sqlite.guarded(self.file):
                self._base.execute("COMMIT")

    def start(self) -> Connection:
        """Open the file, made if missing, and set its owner."""
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
        """Return the signatures of the file and of its write-ahead log."""
        files = (self.file, self.file.with_name(f"{self.file.name}-wal"))
        return repr([_signature(file) for file in files])

    def check(self) -> None:
        """Raise IndexDamaged unless the file is whole."""
        with sqlite.guarded(self.file):
            (answer,) = self.opened().execute("PRAGMA quick_check(1)").fetchone()
        if answer != "ok":
            raise IndexDamaged(f"{self.file} is damaged: {answer}", "it is rebuilt")

    def close(self) -> None:
        """Close the connection; drop what was not committed."""
        if self._base is not None:
            self._closed()
        super().close()

    def _connect(self) -> Connection:
        """Open the file; raise IndexDamaged if it is missing or belongs to another bank."""
        if not self.file.is_file():
            raise IndexDamaged(f"{self.file} is missing", "it is rebuilt")
        base = super()._connect()
        row = base.execute("SELECT value FROM meta WHERE key = 'owner'").fetchone()
        if row is None or row[0] != self._owner:
            base.close()
            raise IndexDamaged(f"{self.file} belongs to another bank", "it is rebuilt")
        return base


def _signature(file: Path) -> tuple[int, int, int] | None:
    try:
        found = file.stat()
    except FileNotFoundError:
        return None
    return found.st_size, found.st_mtime_ns, found.st_ino
