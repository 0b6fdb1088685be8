"""Lock a folder; the operating system releases the lock of a dead process."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from memory_bank.base.errors import Busy, StorageFailed
from memory_bank.base.filenames import LOCK_FILE

WAIT = 30.0
"""Seconds to wait for a lock; holders keep it for one write or one batch."""

_TRIES = 100
"""Maximum number of tries to make a folder that is deleted each time."""


@contextmanager
def hold_lock(
    folder: Path, *, wait: float = WAIT, make: Callable[[], object] | None = None
) -> Iterator[None]:
    """Hold the lock of a folder; raise Busy when another holds it for longer than `wait` seconds.

    Threads exclude each other like processes, since every call opens its own handle. `make` makes
    the folder if it is missing or was deleted meanwhile.
    """
    deadline = time.monotonic() + wait
    handle = None
    tries = _TRIES
    while handle is None:
        tries -= 1
        try:
            handle = _hold_lock(folder, wait, deadline)
        except FileNotFoundError as error:
            if make is None or not tries:
                raise _lock_error(folder, error) from error
            make()
        except OSError as error:  # a file system without locks, some network shares for one
            raise _lock_error(folder, error) from error
    try:
        try:
            yield
        finally:
            _release(handle)
    finally:
        os.close(handle)


def is_locked(folder: Path) -> bool:
    """Tell whether a process has the lock of a folder, which may be missing."""
    if not folder.is_dir():
        return False
    try:
        with hold_lock(folder, wait=0):
            return False
    except Busy:
        return True
    except StorageFailed:
        return False


def _hold_lock(folder: Path, wait: float, deadline: float) -> int | None:
    """Return a handle that has the lock; None if the folder was replaced meanwhile."""
    handle = _open(folder)
    try:
        _acquire(handle, folder, wait, deadline)
        if _stands(handle, folder):
            return handle
    except BaseException:
        os.close(handle)
        raise
    os.close(handle)
    return None


def _lock_error(folder: Path, error: OSError) -> StorageFailed:
    return StorageFailed(
        f"{folder} can't be locked: {error.strerror}", "check that it is there, on a local disk"
    )


def _acquire(handle: int, folder: Path, wait: float, deadline: float) -> None:
    pause = 0.001
    while not _try(handle):
        if time.monotonic() > deadline:
            raise Busy(
                f"{folder} has been locked by another process for {wait:g} s",
                "try again when the other memory-bank process is done",
            )
        from random import uniform  # start-up: few have to wait

        time.sleep(pause * uniform(0.5, 1.5))  # noqa: S311  (spreads waiters, no secret)
        pause = min(pause * 2, 0.02)


if os.name == "nt":  # pragma: no cover  (Windows has no flock; an open file can't be deleted there)
    import msvcrt

    def _open(folder: Path) -> int:
        return os.open(folder / LOCK_FILE, os.O_RDWR | os.O_CREAT)

    def _stands(handle: int, folder: Path) -> bool:  # noqa: ARG001
        return True

    def _try(handle: int) -> bool:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except OSError:
            return False
        return True

    def _release(handle: int) -> None:
        os.lseek(handle, 0, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)  # type: ignore[attr-defined]

else:
    import fcntl

    # The folder itself is locked: a lock file inside could be deleted under its holder.
    def _open(folder: Path) -> int:
        return os.open(folder, os.O_RDONLY)

    def _stands(handle: int, folder: Path) -> bool:
        """Tell whether the path still leads to the locked folder."""
        return os.path.samestat(os.fstat(handle), os.stat(folder))  # noqa: PTH116

    def _try(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _release(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_UN)
