"""The database of the vector index, which belongs to one bank."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from sqlite3 import Connection
from typing import TYPE_CHECKING

from memory_bank.base import sqlite
from memory_bank.base.errors import Busy, IndexDamaged, StorageFailed
from memory_bank.base.sqlite import chunked
from memory_bank.search.models.vectors import np
from memory_bank.search.retrievers.vectors.reader import VectorGeneration, VectorSnapshot

if TYPE_CHECKING:
    from numpy.typing import NDArray


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


def borrowed(
    files: Iterable[Path], keys: Sequence[int], *, tables: str, version: int, dimension: int
) -> Iterator[tuple[int, bytes]]:
    """Yield the vectors that other databases have of some texts: key and quantized vector.

    A database that is missing, damaged or of another version has none.
    """
    wanted = set(keys)
    for file in files:
        if not (wanted and file.is_file()):
            continue
        try:
            base = sqlite.connect(file, tables, version, make=False)
            with closing(base), sqlite.guarded(file):
                found = list(_found(base, file.parent, sorted(wanted), dimension))
        except (IndexDamaged, Busy, StorageFailed):
            continue  # they are embedded
        yield from found
        wanted.difference_update(key for key, _ in found)


def _found(
    base: Connection, folder: Path, keys: Sequence[int], dimension: int
) -> Iterator[tuple[int, bytes]]:
    base.execute("BEGIN")  # one state of the database and the snapshot that it names
    rows = list(chunked(base, "SELECT key, slot, vector FROM vectors WHERE key IN ({})", keys))
    size = dimension * np.dtype(np.int8).itemsize
    yield from ((key, blob) for key, slot, blob in rows if slot is None and len(blob) == size)
    kept = [(key, slot) for key, slot, _ in rows if slot is not None]
    published = base.execute("SELECT value FROM meta WHERE key = 'published'").fetchone()
    if kept and published is not None:
        vectors = _from_snapshot(published[0], folder, [slot for _, slot in kept], dimension)
        yield from ((key, row.tobytes()) for (key, _), row in zip(kept, vectors, strict=True))


def _from_snapshot(
    record: str, folder: Path, slots: Sequence[int], dimension: int
) -> NDArray[np.int8]:
    try:
        found = json.loads(record)
        published = VectorGeneration(found["generation"], found["rows"], tuple(found["hashes"]))
        snapshot = VectorSnapshot(folder, published, dimension)
        return snapshot.at(np.array(slots, np.int64))
    except (ValueError, TypeError, KeyError, IndexError) as error:
        raise IndexDamaged(f"{folder} is damaged: {error}", "its texts are embedded") from error
