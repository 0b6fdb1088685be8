"""A database in the private state of this machine, which can't be made again: damage is renamed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from sqlite3 import Connection
from typing import TYPE_CHECKING, Any, TypeVar

from memory_bank.base import sqlite
from memory_bank.base.errors import IndexDamaged, IndexOutdated, StorageFailed

if TYPE_CHECKING:  # a hook does not load it
    from memory_bank.base.repairs import Repaired

Result = TypeVar("Result")


class DurableFile(sqlite.Opened):
    """A database that is renamed when it is damaged, and begun anew; reading makes no file."""

    content = ""
    """What is in it, for messages."""
    probe = ""
    """A statement that fails unless the tables are there."""

    def __init__(
        self,
        file: Path,
        tables: str,
        version: int,
        repaired: Repaired,
        upgrade: sqlite.Upgrade | None = None,
    ) -> None:
        """Open nothing yet; `repaired` is called when the database was begun anew."""
        super().__init__(file, tables, version)
        self._repaired = repaired
        self._upgrade_from = upgrade

    def _rows(self, sql: str, values: tuple[object, ...] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of a statement; none if there is no file."""
        if not self.file.exists():
            return []
        return self._run(lambda base: base.execute(sql, values).fetchall())

    def _write(self, work: Callable[[Connection], Result]) -> Result:
        """Run `work` in a transaction."""

        def run(base: Connection) -> Result:
            with sqlite.transaction(base):
                return work(base)

        return self._run(run)

    def _run(self, work: Callable[[Connection], Result]) -> Result:
        """Run `work`, once more after a damaged file was set aside."""
        try:
            with sqlite.convert_errors(self.file):
                return work(self.opened())
        except IndexDamaged:
            self._set_aside()
            with sqlite.convert_errors(self.file):
                return work(self.opened())

    def _set_aside(self) -> None:
        """Rename a damaged database, unless another process has just replaced it."""
        from memory_bank.base import locks  # start-up: few are damaged

        self.close()
        with locks.hold_lock(self.file.parent, make=self._make_folder):
            if not self.file.exists() or self._is_sound():
                return
            aside = set_aside(self.file)
        self._repaired(f"{self.content}; the damaged one is {aside}")

    def _is_sound(self) -> bool:
        try:
            with sqlite.convert_errors(self.file):
                rows = self.opened().execute("PRAGMA quick_check(1)").fetchall()
                self.opened().execute(self.probe).fetchall()
        except IndexDamaged:
            rows = []
        if rows == [("ok",)]:
            return True
        self.close()
        return False

    def _connect(self) -> Connection:
        """Open the file in a folder with permissions for the user only."""
        self._make_folder()
        try:
            return sqlite.connect(
                self.file, self._tables, self._version, upgrade=self._upgrade_from
            )
        except IndexOutdated as error:
            raise StorageFailed(
                f"{self.content} {self.file} is of a newer version of memory-bank",
                "update memory-bank here; the file stays as it is",
            ) from error

    def _make_folder(self) -> None:
        folder = self.file.parent
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise StorageFailed(f"{folder} can't be made: {error.strerror}") from error


def set_aside(file: Path) -> Path:
    """Rename a damaged database with its log to a free name, and return that."""
    name = next(name for name in _free_names(file.name) if not file.with_name(name).exists())
    try:
        for suffix in ("", "-wal", "-shm"):  # the log may have rows that the file has not
            with suppress(FileNotFoundError):
                file.with_name(file.name + suffix).replace(file.with_name(name + suffix))
    except OSError as error:
        raise StorageFailed(
            f"{file} is damaged and can't be renamed: {error.strerror}",
            "check the disk's space and permissions",
        ) from error
    return file.with_name(name)


def _free_names(name: str) -> Iterator[str]:
    """Yield a name for a damaged file, then the same with numbers."""
    yield f"{name}.damaged"
    number = 2
    while True:
        yield f"{name}.damaged-{number}"
        number += 1
