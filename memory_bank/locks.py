"""A lock on a folder that the operating system frees when its holder dies."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memory_bank.errors import Busy, StorageFailed

WAIT = 30.0
"""Seconds to wait for a lock; holders keep it for one write or one batch."""


@contextmanager
def locked(folder: Path, *, wait: float = WAIT) -> Iterator[None]:
    """Hold the lock of a folder; raise Busy when another holds it for longer than `wait` seconds.

    Threads and processes exclude each other alike: every call has a handle of its own.
    """
    try:
        handle = _open(folder)
    except OSError as error:
        raise _refused(folder, error) from error
    try:
        try:
            _acquire(handle, folder, wait)
        except OSError as error:  # a file system without locks, some network shares for one
            raise _refused(folder, error) from error
        try:
            yield
        finally:
            _release(handle)
    finally:
        os.close(handle)


def _refused(folder: Path, error: OSError) -> StorageFailed:
    return StorageFailed(
        f"{folder} can't be locked: {error.strerror}", "check that it is there, on a local disk"
    )


def _acquire(handle: int, folder: Path, wait: float) -> None:
    deadline = time.monotonic() + wait
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
        return os.open(folder / ".mb-lock", os.O_RDWR | os.O_CREAT)

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

    def _try(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _release(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_UN)
