"""A database that can't be rebuilt: a damaged one is renamed and replaced by an empty one."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from memory_bank import sqlite
from memory_bank.errors import Busy, IndexDamaged, StorageFailed


class Log(sqlite.Opened):
    """A file in the private state of this machine; reading never fails and makes no file."""

    lost = "it is not written down"
    """Start of the message when nothing can be written."""
    table = ""
    """The table of notes, whose column `note` has their ids or paths."""

    def __init__(
        self, file: Path, tables: str, version: int, repaired: Callable[[], object] = lambda: None
    ) -> None:
        """Keep the file of these tables; `repaired` is called when it had to be started again."""
        super().__init__(file, tables, version)
        self._repaired = repaired

    def read(self, sql: str, values: Iterable[str] | None = None) -> list[tuple[Any, ...]]:
        """Return the rows of a statement, with `IN ({})` for values; none if they can't be read."""
        wanted = None if values is None else list(values)
        if not self.file.exists():
            return []
        try:
            with sqlite.guarded(self.file):
                if wanted is None:
                    return self.opened().execute(sql).fetchall()
                return list(sqlite.chunked(self.opened(), sql, wanted))
        except (Busy, IndexDamaged, StorageFailed):
            return []  # an answer must not fail for it

    def write(self, sql: str, rows: Sequence[tuple[object, ...]]) -> str:
        """Write rows; return why that failed, or an empty text."""
        try:
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
        if not self.file.exists():
            return ""
        return self.write(f"DELETE FROM {self.table} WHERE note = ?", [(note,) for note in notes])

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

    def _connect(self) -> sqlite.Connection:
        """Open the file in a folder with permissions for the user only."""
        folder = self.file.parent
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise StorageFailed(f"{folder} can't be made: {error.strerror}") from error
        return super()._connect()
