"""The database file of the queue of sessions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from sqlite3 import Connection
from typing import TYPE_CHECKING, TypeVar

from memory_bank.base import sqlite
from memory_bank.base.errors import IndexDamaged, StorageFailed
from memory_bank.sessions.queue_rows import COLUMNS, EVENT, TABLES, VERSION, Row

if TYPE_CHECKING:
    from memory_bank.base.repairs import Repaired


FILE = "sessions.db"

_WAIT = 5.0
"""Seconds to wait for another process: an agent waits for its hook."""

_LOG_PAGES = 200
"""Size from which SQLite copies its log into the database, in pages of 4 KiB."""

Result = TypeVar("Result")


class QueueFile(sqlite.Opened):
    """The database: whatever was written survives a kill and a power failure."""

    def __init__(self, folder: Path, repaired: Repaired = lambda _: None) -> None:
        """Keep the database in a folder, the bank's private state; nothing is opened yet."""
        super().__init__(folder / FILE, TABLES, VERSION)
        self._repaired = repaired

    def scrub(self) -> bool:
        """Write the file anew, so that nothing which was removed can be read from the disk.

        False if another process reads its log, which may hold old rows.
        """
        from memory_bank.base import sqlite  # start-up: few remove

        with sqlite.guarded(self.file):
            return sqlite.scrub(self.opened(), _WAIT)

    def take_over(self, other: Path) -> None:
        """Add what the queue in another folder has, and delete that one; what is here stays.

        Raises StorageFailed.
        """
        former = QueueFile(other)
        if not former.file.exists():
            return
        former._rows(f"{EVENT} LIMIT 0")  # brings it to this version
        former.close()

        def work(base: Connection) -> None:
            base.execute("ATTACH ? AS former", (str(former.file),))
            try:
                with sqlite.transaction(base):
                    for table, columns in COLUMNS.items():
                        base.execute(
                            f"INSERT OR IGNORE INTO main.{table} ({columns})"
                            f" SELECT {columns} FROM former.{table}"
                        )
            finally:
                base.execute("DETACH former")

        self._guarded(work)
        for suffix in ("", "-wal", "-shm"):
            former.file.with_name(FILE + suffix).unlink(missing_ok=True)

    def _rows(self, sql: str, values: tuple[object, ...] = ()) -> list[Row]:
        """Return rows; none if there is no file, which reading doesn't make."""
        if not self.file.exists():
            return []
        return self._guarded(lambda base: base.execute(sql, values).fetchall())

    def _write(self, work: Callable[[Connection], Result]) -> Result:
        """Run `work` in a transaction."""

        def run(base: Connection) -> Result:
            with sqlite.transaction(base):
                return work(base)

        return self._guarded(run)

    def _guarded(self, work: Callable[[Connection], Result]) -> Result:
        """Run `work`, once more after a damaged file was set aside."""
        try:
            with sqlite.guarded(self.file):
                return work(self.opened())
        except IndexDamaged:
            self._set_aside()
            with sqlite.guarded(self.file):
                return work(self.opened())

    def _set_aside(self) -> None:
        """Rename a damaged database, unless another process has just replaced it."""
        from memory_bank.base import locks  # start-up: few are damaged

        self.close()
        with locks.locked(self.file.parent, make=self._make_folder):
            if not self.file.exists() or self._sound():
                return
            name = next(
                name for name in _names(f"{FILE}.damaged") if not self.file.with_name(name).exists()
            )
            try:
                self.file.replace(self.file.with_name(name))
                for suffix in ("-wal", "-shm"):  # the log may have events that the file has not
                    with suppress(FileNotFoundError):
                        old = self.file.with_name(FILE + suffix)
                        old.replace(self.file.with_name(name + suffix))
            except OSError as error:
                raise StorageFailed(
                    f"{self.file} is damaged and can't be renamed: {error.strerror}",
                    "check the disk's space and permissions",
                ) from error
        self._repaired(f"the queue of sessions; the damaged one is {self.file.with_name(name)}")

    def _sound(self) -> bool:
        try:
            with sqlite.guarded(self.file):
                rows = self.opened().execute("PRAGMA quick_check(1)").fetchall()
                self.opened().execute(f"{EVENT} LIMIT 1").fetchall()
        except IndexDamaged:
            rows = []
        if rows == [("ok",)]:
            return True
        self.close()
        return False

    def _connect(self) -> Connection:
        """Open the file in a folder with permissions for the user only."""
        self._make_folder()
        base = super()._connect()
        with sqlite.guarded(self.file):
            # the commit is on the disk when it returns, unlike in the other databases
            base.execute("PRAGMA synchronous = FULL")
            base.execute(f"PRAGMA busy_timeout = {_WAIT * 1000:.0f}")
            # hooks end without closing it, and the next one reads the whole log first
            base.execute(f"PRAGMA wal_autocheckpoint = {_LOG_PAGES}")
        return base

    def _make_folder(self) -> None:
        folder = self.file.parent
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise StorageFailed(f"{folder} can't be made: {error.strerror}") from error


def _names(start: str) -> Iterator[str]:
    """Yield a name, then the same with numbers."""
    yield start
    number = 2
    while True:
        yield f"{start}-{number}"
        number += 1
