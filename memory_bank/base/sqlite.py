"""Open SQLite databases with their tables, run transactions, convert errors, remove texts."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from sqlite3 import Connection
from typing import Any, Generic, TypeVar

from memory_bank.base.errors import Busy, Hint, IndexDamaged, IndexOutdated, StorageFailed
from memory_bank.base.removed_text import RemovedText

Identity = tuple[int, int] | None

Table = TypeVar("Table")

# Seconds to wait for another process; a batch of an index takes a few.
_WAIT = 30.0

_PAUSE = 0.01

_MAKING_SECONDS = 3.0
"""Seconds to wait for another process that makes the same database."""

_TRIES = 20
"""Maximum number of tries to open a database that other processes change."""

_GONE, _CANT_OPEN = "SQLITE_IOERR_DELETE_NOENT", "SQLITE_CANTOPEN"

_CHUNK = 512
"""Maximum number of values in one statement; SQLite plans and caches shorter ones better."""

_NO_MEMORY = frozenset({"SQLITE_IOERR_SHMMAP", "SQLITE_IOERR_NOMEM", "SQLITE_NOMEM"})

_NO_ROOM = frozenset({"SQLITE_IOERR_SHMOPEN", "SQLITE_IOERR_SHMSIZE"})
"""Error codes of a disk that is full, too: the file beside it of 32 kB can't be made."""

_LEAST_FREE = 100_000

_UNREADABLE = frozenset(
    [
        "SQLITE_IOERR", "SQLITE_IOERR_READ", "SQLITE_IOERR_SHORT_READ", "SQLITE_IOERR_FSTAT",
        "SQLITE_IOERR_SHMOPEN", "SQLITE_IOERR_SHMSIZE",
        _GONE, "SQLITE_READONLY_DBMOVED",
    ]
)  # fmt: skip
"""Error codes of a file that was truncated, or replaced while it was open."""

_DAMAGE = ("malformed", "no such", "has no column", "not a database", "could not decode")


Upgrade = Callable[[Connection], None]
"""Bring a database of an older version to the current one."""


def connect(
    file: Path, tables: str, version: int, *, make: bool = True, upgrade: Upgrade | None = None
) -> Connection:
    """Open a database in WAL mode, and make its tables if there are none.

    `upgrade` is called for one of an older version.

    Raises IndexOutdated if the file is a database of another version, IndexDamaged if it is none,
    or if it is missing or empty and `make` is not set; StorageFailed if the disk refuses. The
    connection is in autocommit mode;
    see `transaction`.
    """
    with convert_errors(file):
        base, version_of_file = _open_database(file, tables, version, make=make)
        if upgrade is not None and 0 < version_of_file < version:
            upgrade(base)
            version_of_file = version
    if version_of_file != version:
        base.close()
        raise IndexOutdated(
            f"{file} is of version {version_of_file}, not {version}", "it is rebuilt"
        )
    return base


def _open_database(file: Path, tables: str, version: int, *, make: bool) -> tuple[Connection, int]:
    """Open a database and set it up; return it with its version.

    Repeated after transient failures: SQLite removes a stale write-ahead log beside an empty
    database, and fails if another process has just done so; and a deleted folder may exist again.
    """
    tries = _TRIES
    while True:
        base = None
        try:
            base = _open(file, make=make)
            return base, _prepare(base, tables, version if make else 0)
        except BaseException as error:
            if base is not None:
                base.close()
            tries -= 1
            if getattr(error, "sqlite_errorname", "") not in {_GONE, _CANT_OPEN} or not tries:
                raise


def _open(file: Path, *, make: bool) -> Connection:
    name = f"{file.absolute().as_uri()}?mode={'rwc' if make else 'rw'}"
    try:
        return sqlite3.connect(
            name, uri=True, timeout=_WAIT, isolation_level=None, check_same_thread=False
        )
    except sqlite3.OperationalError as error:
        if make or file.exists():
            raise
        raise IndexDamaged(f"{file} is missing", "it is rebuilt") from error


def _prepare(base: Connection, tables: str, version: int) -> int:
    """Set up a connection; return the database's version. Make the tables if `version` is set."""
    base.execute("PRAGMA foreign_keys = ON")
    base.execute("PRAGMA synchronous = NORMAL")
    (current,) = base.execute("PRAGMA user_version").fetchone()
    if current == 0 and version:
        base.execute(f"PRAGMA busy_timeout = {_MAKING_SECONDS * 1000:.0f}")
        try:
            current = _make(base, tables, version)
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                raise
            (current,) = base.execute("PRAGMA user_version").fetchone()
            if not current:  # making one is fast, so a file that others have open was emptied
                raise IndexDamaged("the database was emptied", "it is rebuilt") from error
        base.execute(f"PRAGMA busy_timeout = {_WAIT * 1000:.0f}")
    return int(current)


def _make(base: Connection, tables: str, version: int) -> int:
    """Make the tables of a new database, unless another process has; return the version."""
    base.execute("PRAGMA page_size = 2048")  # many tables are small: 4096 leaves a fifth empty
    base.execute("PRAGMA auto_vacuum = INCREMENTAL")
    _switch_to_wal(base)
    with transaction(base):
        (version_of_file,) = base.execute("PRAGMA user_version").fetchone()
        if version_of_file == 0:
            for statement in tables.split(";\n"):
                base.execute(statement)
            base.execute(f"PRAGMA user_version = {version}")
            version_of_file = version
    return int(version_of_file)


def _switch_to_wal(base: Connection) -> None:
    """Switch a new database to WAL mode.

    If several processes do so at once, SQLite refuses all but one: its busy timeout does not apply
    to this statement.
    """
    end = time.monotonic() + _MAKING_SECONDS
    while True:
        try:
            base.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > end:
                raise
            time.sleep(_PAUSE)
        else:
            return


class Opened:
    """A database that is opened when needed, and reopened if its file was deleted or replaced."""

    def __init__(self, file: Path, tables: str, version: int) -> None:
        """Open nothing yet."""
        self.file = file
        self._tables = tables
        self._version = version
        self._base: Connection | None = None
        self._identity: Identity = None

    def opened(self) -> Connection:
        """Return the connection; raise IndexDamaged or StorageFailed."""
        if not self.current():
            self.close()
        if self._base is None:
            return self._hold(self._connect())
        return self._base

    def current(self) -> bool:
        """Tell whether the path still leads to the open file, if one is open."""
        return self._base is None or file_identity(self.file) == self._identity

    def close(self) -> None:
        """Close the connection; drop what was not committed."""
        if self._base is not None:
            self._base.close()
        self._base = None

    def count_text(self, removed: RemovedText) -> int:
        """Return how many values have a text; make no file."""
        if not self.file.exists():
            return 0
        with convert_errors(self.file):
            return count(self.opened(), removed)

    def replace_text(self, removed: RemovedText) -> int:
        """Replace a text in all values; return how many had it.

        The old text can be read from the disk until `scrub`.
        """
        if not self.file.exists():
            return 0
        with convert_errors(self.file):
            base = self.opened()
            with transaction(base):
                return replace(base, removed)

    def scrub(self) -> bool:
        """Write the file anew, so that nothing which was removed can be read from the disk.

        False if another process reads its log, which may hold old rows.
        """
        if not self.file.exists():
            return True
        try:
            with convert_errors(self.file):
                return scrub(self.opened())
        finally:
            self.close()  # it waits shorter now

    def _connect(self) -> Connection:
        """Open the file; make it if missing."""
        return connect(self.file, self._tables, self._version)

    def _hold(self, base: Connection) -> Connection:
        self._base, self._identity = base, file_identity(self.file)
        return base


class OpenedCache(Opened):
    """A database that can be computed again: a damaged one is replaced by an empty one."""

    def _connect(self) -> Connection:
        return connect_cache(self.file, self._tables, self._version)


@contextmanager
def convert_errors(file: Path) -> Iterator[None]:
    """Convert SQLite's errors to IndexDamaged, Busy or StorageFailed."""
    try:
        yield
    except sqlite3.OperationalError as error:
        code = getattr(error, "sqlite_errorname", "")  # not all have one
        if code in _NO_MEMORY:
            raise StorageFailed(
                f"{file}: the system gives no memory to read it ({code})",
                "end other programs, or allow more memory; a network share may give none at all",
            ) from error
        if code in _NO_ROOM and _is_full(file):
            raise StorageFailed(f"{file}: the disk is full ({code})", "free some space") from error
        if code in _UNREADABLE or any(word in str(error).lower() for word in _DAMAGE):
            raise IndexDamaged(f"{file} is damaged: {error}", "it is rebuilt") from error
        if code == _CANT_OPEN and _has_vanished(file):
            raise IndexDamaged(f"{file} is gone", "it is rebuilt") from error
        if "locked" in str(error):
            raise Busy(f"{file} is in use by another process", Hint.TRY_AGAIN) from error
        raise StorageFailed(
            f"{file}: {error} {code}".rstrip(), "check the disk's space and permissions"
        ) from error
    except sqlite3.DatabaseError as error:
        raise IndexDamaged(f"{file} is damaged: {error}", "it is rebuilt") from error


def _is_full(file: Path) -> bool:
    """Tell whether the disk of a file has hardly any free space."""
    from shutil import disk_usage  # start-up: few disks are full

    try:
        return disk_usage(file.parent).free < _LEAST_FREE
    except OSError:
        return False


def _has_vanished(file: Path) -> bool:
    """Tell whether a database was deleted, alone or with its folder."""
    return not file.exists() and (not file.parent.exists() or os.access(file.parent, os.W_OK))


@contextmanager
def transaction(base: Connection) -> Iterator[None]:
    """Run the body in one transaction."""
    base.execute("BEGIN IMMEDIATE")
    try:
        yield
        base.execute("COMMIT")
    except BaseException:
        if base.in_transaction:
            base.execute("ROLLBACK")
        raise


def execute_chunked(
    base: Connection, sql: str, values: Sequence[int] | Sequence[str]
) -> Iterator[tuple[Any, ...]]:
    """Run a statement with `IN ({})` over any number of values.

    The number of values is filled up to a power of two by repeating the last one, so that there are
    few different statements and SQLite's cache of prepared statements works.
    """
    for start in range(0, len(values), _CHUNK):
        part = values[start : start + _CHUNK]
        room = 1 << (len(part) - 1).bit_length()
        filled = [*part, *[part[-1]] * (room - len(part))]
        yield from base.execute(sql.format(",".join("?" * room)), filled)


class Memo(Generic[Table]):
    """A table cached in memory until the database changes.

    It is loaded at the second request in the same state, since a process with one request reads
    fewer rows without it.
    """

    def __init__(self, load: Callable[[Connection], Table]) -> None:
        """Load the table with `load`."""
        self._load = load
        self._state: tuple[Connection, int, int] | None = None
        self._table: Table | None = None

    def of(self, base: Connection) -> Table | None:
        """Return the table; None at the first request after a change."""
        (version,) = base.execute("PRAGMA data_version").fetchone()
        state = base, int(version), base.total_changes
        new = state != self._state
        if new:
            self._state, self._table = state, None
        if self._table is None and not new:
            self._table = self._load(base)
        return self._table


def checkpoint(base: Connection) -> None:
    """Checkpoint and truncate the write-ahead log, unless it is being read.

    SQLite itself never shrinks the log.
    """
    with without_waiting(base):
        base.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


@contextmanager
def without_waiting(base: Connection) -> Iterator[None]:
    """Make statements fail at once instead of waiting for another process."""
    base.execute("PRAGMA busy_timeout = 0")
    try:
        yield
    finally:
        base.execute(f"PRAGMA busy_timeout = {int(_WAIT * 1000)}")


def file_identity(file: Path) -> Identity:
    """Return what identifies a file: another one at the same path differs. None if missing."""
    try:
        stat = os.stat(file)  # noqa: PTH116  (several times in each answer)
    except OSError:
        return None
    return stat.st_dev, stat.st_ino


def data_version(base: Connection) -> int:
    """Return a number that changes when another connection commits."""
    return int(base.execute("PRAGMA data_version").fetchone()[0])


def connect_cache(file: Path, tables: str, version: int) -> Connection:
    """Open a database, in place of a damaged one an empty one; raise StorageFailed."""
    try:
        return connect(file, tables, version)
    except IndexDamaged:
        remove(file)
        return connect(file, tables, version)


def remove(file: Path) -> None:
    """Remove a damaged database; raise StorageFailed."""
    try:
        discard(file)
    except OSError as error:
        raise StorageFailed(
            f"{file} can't be replaced: {error.strerror}", "check the disk and its permissions"
        ) from error


def discard(file: Path) -> None:
    """Remove a database with its WAL files; raise OSError."""
    for suffix in ("", "-wal", "-shm"):
        file.with_name(file.name + suffix).unlink(missing_ok=True)


SCRUB_SECONDS = 5.0
"""Seconds to wait for another process that reads the write-ahead log."""


def count(base: Connection, removed: RemovedText) -> int:
    """Return how many values have the text."""
    _define(base, removed)
    return sum(
        int(base.execute(f"SELECT count(*) FROM {table} WHERE {_has(name)}").fetchone()[0])
        for table, name in _columns(base)
    )


def replace(base: Connection, removed: RemovedText) -> int:
    """Replace the text in all values, inside a transaction; return how many had it.

    Of rows that become alike in a primary key, the last one stays.
    """
    _define(base, removed)
    return sum(
        base.execute(
            f"UPDATE OR REPLACE {table} SET {name} = forgotten_in({name}) WHERE {_has(name)}"
        ).rowcount
        for table, name in _columns(base)
    )


def scrub(base: Connection) -> bool:
    """Write the file anew and empty its log, so that nothing removed can be read from it.

    False if another process read the log for longer than some seconds: it may hold old rows.
    """
    base.execute(f"PRAGMA busy_timeout = {SCRUB_SECONDS * 1000:.0f}")
    base.execute("VACUUM")
    (busy, _, _) = base.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return not busy


def _define(base: Connection, removed: RemovedText) -> None:
    base.create_function("forgotten_in", 1, removed.replaced_in_json, deterministic=True)
    base.create_function("has_forgotten", 1, removed.count, deterministic=True)


def _has(column: str) -> str:
    return f"typeof({column}) = 'text' AND has_forgotten({column})"


def _columns(base: Connection) -> list[tuple[str, str]]:
    """Return the tables of a database with their columns, as SQL has their names."""
    tables = base.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    return [
        (f'"{table}"', f'"{row[1]}"')
        for (table,) in tables
        if not table.startswith("sqlite_")
        for row in base.execute(f'PRAGMA table_info("{table}")')
    ]
