"""SQLite as we use it: opened with its tables, committed whole, its errors made ours."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from sqlite3 import Connection
from typing import Any, Generic, TypeVar

from memory_bank.errors import Busy, IndexDamaged, StorageFailed
from memory_bank.hints import Hint

__all__ = [
    "Connection",
    "Identity",
    "Memo",
    "Opened",
    "chunked",
    "connect",
    "discard",
    "guarded",
    "identity",
    "impatient",
    "settle",
    "transaction",
    "version",
]

Identity = tuple[int, int] | None
Table = TypeVar("Table")

_WAIT = 30.0
_PAUSE = 0.01
_MAKING = 3.0
"""Seconds after which a new database that is locked was no new one."""
_TRIES = 20
"""How often a database is opened when somebody else is in the way each time."""
_GONE, _SHUT = "SQLITE_IOERR_DELETE_NOENT", "SQLITE_CANTOPEN"
_CHUNK = 512
"""Values in one statement; SQLite takes more, but plans and caches shorter ones better."""
_UNREADABLE = frozenset(
    [
        "SQLITE_IOERR", "SQLITE_IOERR_READ", "SQLITE_IOERR_SHORT_READ", "SQLITE_IOERR_FSTAT",
        "SQLITE_IOERR_SHMOPEN", "SQLITE_IOERR_SHMSIZE", "SQLITE_IOERR_SHMMAP",
        _GONE, "SQLITE_READONLY_DBMOVED",
    ]
)  # fmt: skip
"""Said of a file that is cut short, or that another process replaced while it was open."""
_DAMAGE = ("malformed", "no such", "has no column", "not a database", "could not decode")


def connect(file: Path, tables: str, version: int, *, make: bool = True) -> Connection:
    """Open a database, making its tables where there are none; readers never wait for a writer.

    Raises IndexDamaged when the file is no database of this version, or is missing or empty and
    not to be made; StorageFailed when the disk refuses. The connection commits each statement by
    itself; see `transaction`.
    """
    with guarded(file):
        base, found = _opened(file, tables, version, make=make)
    if found != version:
        base.close()
        raise IndexDamaged(f"{file} is of version {found}, not {version}", "it is rebuilt")
    return base


def _opened(file: Path, tables: str, version: int, *, make: bool) -> tuple[Connection, int]:
    """Open a database and set it up; return it with the version of what is there.

    Tried again where somebody else was in the way for a moment: SQLite removes the write-ahead log
    that another database has left beside an empty one, and fails when another opener has just done
    so; and a folder that was deleted may be there again.
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
            if getattr(error, "sqlite_errorname", "") not in {_GONE, _SHUT} or not tries:
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
    """Set a connection up; return the version of what is there, made if `version` says one."""
    base.execute("PRAGMA foreign_keys = ON")
    base.execute("PRAGMA synchronous = NORMAL")
    (found,) = base.execute("PRAGMA user_version").fetchone()
    if found == 0 and version:
        try:
            found = _make(base, tables, version)
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                raise
            # whoever makes a new one is soon done: somebody emptied one that another has open
            raise IndexDamaged("the database was emptied", "it is rebuilt") from error
    return int(found)


def _make(base: Connection, tables: str, version: int) -> int:
    """Make the tables of a new database, unless another process has done so; return its version."""
    base.execute(f"PRAGMA busy_timeout = {_MAKING * 1000:.0f}")
    base.execute("PRAGMA auto_vacuum = INCREMENTAL")
    _write_ahead(base)
    with transaction(base):
        (found,) = base.execute("PRAGMA user_version").fetchone()
        if found == 0:
            for statement in tables.split(";\n"):
                base.execute(statement)
            base.execute(f"PRAGMA user_version = {version}")
            found = version
    base.execute(f"PRAGMA busy_timeout = {_WAIT * 1000:.0f}")
    return int(found)


def _write_ahead(base: Connection) -> None:
    """Switch a new database to its write-ahead log.

    Of several processes that do so at once, SQLite refuses all but one without waiting: its busy
    timeout does not hold for this statement.
    """
    end = time.monotonic() + _MAKING
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
    """A database that is opened when needed, and anew when its file was deleted or replaced."""

    def __init__(self, file: Path, tables: str, version: int) -> None:
        """Open nothing yet."""
        self.file = file
        self._tables = tables
        self._version = version
        self._base: Connection | None = None
        self._identity: Identity = None

    def opened(self) -> Connection:
        """Return the connection; raise IndexDamaged or StorageFailed when there can be none."""
        if not self.current():
            self.close()
        if self._base is None:
            return self._hold(self._connect())
        return self._base

    def current(self) -> bool:
        """Tell whether the file that is open, if one is, still has its name."""
        return self._base is None or identity(self.file) == self._identity

    def close(self) -> None:
        """Close the connection; what was not committed is dropped."""
        if self._base is not None:
            self._base.close()
        self._base = None

    def _connect(self) -> Connection:
        """Open the file, made where there is none."""
        return connect(self.file, self._tables, self._version)

    def _hold(self, base: Connection) -> Connection:
        self._base, self._identity = base, identity(self.file)
        return base


@contextmanager
def guarded(file: Path) -> Iterator[None]:
    """Turn SQLite's errors into ours: damage, or a disk that refuses."""
    try:
        yield
    except sqlite3.OperationalError as error:
        code = getattr(error, "sqlite_errorname", "")  # not all have one
        if code in _UNREADABLE or any(word in str(error).lower() for word in _DAMAGE):
            raise IndexDamaged(f"{file} is damaged: {error}", "it is rebuilt") from error
        if code == _SHUT and _vanished(file):
            raise IndexDamaged(f"{file} is gone", "it is rebuilt") from error
        if "locked" in str(error):
            raise Busy(f"{file} is in use by another process", Hint.TRY_AGAIN) from error
        raise StorageFailed(
            f"{file}: {error} {code}".rstrip(), "check the disk's space and permissions"
        ) from error
    except sqlite3.DatabaseError as error:
        raise IndexDamaged(f"{file} is damaged: {error}", "it is rebuilt") from error


def _vanished(file: Path) -> bool:
    """Tell whether a database was deleted, with its folder or in one that can be written."""
    return not file.exists() and (not file.parent.exists() or os.access(file.parent, os.W_OK))


@contextmanager
def transaction(base: Connection) -> Iterator[None]:
    """Commit everything done inside, or nothing."""
    base.execute("BEGIN IMMEDIATE")
    try:
        yield
        base.execute("COMMIT")
    except BaseException:
        if base.in_transaction:
            base.execute("ROLLBACK")
        raise


def chunked(
    base: Connection, sql: str, values: Sequence[int] | Sequence[str]
) -> Iterator[tuple[Any, ...]]:
    """Run a statement with `IN ({})` over any number of values.

    The last one is repeated up to a power of two: few different statements are made ready once,
    many would be anew for each question.
    """
    for start in range(0, len(values), _CHUNK):
        part = values[start : start + _CHUNK]
        room = 1 << (len(part) - 1).bit_length()
        filled = [*part, *[part[-1]] * (room - len(part))]
        yield from base.execute(sql.format(",".join("?" * room)), filled)


class Memo(Generic[Table]):
    """Keeps a table in memory as long as no one writes to the database.

    It is loaded when it is asked for a second time in the same state: who asks
    once reads the few rows that are needed.
    """

    def __init__(self, load: Callable[[Connection], Table]) -> None:
        """Load with `load`, when it pays."""
        self._load = load
        self._state: tuple[Connection, int, int] | None = None
        self._table: Table | None = None

    def of(self, base: Connection) -> Table | None:
        """Return the table as it is now; None when its rows are better read one by one."""
        (version,) = base.execute("PRAGMA data_version").fetchone()
        state = base, int(version), base.total_changes
        new = state != self._state
        if new:
            self._state, self._table = state, None
        if self._table is None and not new:
            self._table = self._load(base)
        return self._table


def settle(base: Connection) -> None:
    """Bring the write-ahead log into the database and empty it, unless someone reads just now.

    SQLite itself keeps the log as large as the largest transaction made it.
    """
    with impatient(base):
        base.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


@contextmanager
def impatient(base: Connection) -> Iterator[None]:
    """Let what is done inside fail at once where it would have to wait for another process."""
    base.execute("PRAGMA busy_timeout = 0")
    try:
        yield
    finally:
        base.execute(f"PRAGMA busy_timeout = {int(_WAIT * 1000)}")


def identity(file: Path) -> Identity:
    """Tell a file from another one put into its place; None when there is none."""
    try:
        stat = os.stat(file)  # noqa: PTH116  (several times in each answer)
    except OSError:
        return None
    return stat.st_dev, stat.st_ino


def version(base: Connection) -> int:
    """Return a number that changes when another connection commits."""
    return int(base.execute("PRAGMA data_version").fetchone()[0])


def discard(file: Path) -> None:
    """Remove a database and SQLite's files beside it."""
    for suffix in ("", "-wal", "-shm"):
        file.with_name(file.name + suffix).unlink(missing_ok=True)
