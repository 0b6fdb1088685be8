"""Files that are replaced whole or not at all."""

from __future__ import annotations

import errno
import os
import time
from pathlib import Path

from memory_bank.errors import Conflict, NoteExists, StorageFailed
from memory_bank.filenames import TEMPORARY_PREFIX
from memory_bank.notes._swap import swap, written_now
from memory_bank.notes.identity import etag

_WRITTEN = 0.5
"""Seconds to wait for a program that is in the middle of a write."""
ABSENT = ""
"""The etag of a file that isn't there."""
SHORT = 16
"""Digits of an etag that stand for the whole: 64 bits, which nobody meets by chance."""


def read(file: Path | str) -> bytes | None:
    """Return a file's bytes; None when there is no such file; raise StorageFailed otherwise."""
    try:
        # what pathlib and a buffer add costs more than the read
        with open(file, "rb", buffering=0) as stream:  # noqa: PTH123
            return stream.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise failed("read", Path(file), error) from error


def current(file: Path) -> str:
    """Return the etag of a file as it is now, ABSENT when it isn't there."""
    data = read(file)
    return ABSENT if data is None else etag(data)


def check(file: Path, expected: str | None) -> None:
    """Raise Conflict or NoteExists unless the file is as expected; None expects nothing.

    The first digits of an etag, at least SHORT, stand for the whole.
    """
    if expected is None:
        return
    found = current(file)
    if found == expected or (len(expected) >= SHORT and found.startswith(expected)):
        return
    if expected == ABSENT:
        raise taken(file.name)
    raise _changed(file, expected, found)


def replace(file: Path, data: bytes, expected: str | None = None, *, mode: int = 0o666) -> None:
    """Write a file atomically and durably; its mode stays, a new one has `mode` less the umask.

    `expected` is the etag the file must still have at the moment of the rename (ABSENT: no
    file); else Conflict or NoteExists is raised and nothing changed. Where the system can swap two
    files, that holds against programs that know of no lock.
    """
    try:
        make_folder(file.parent)
        temporary = _write_temporary(file, data, mode)
    except OSError as error:
        raise failed("write", file, error) from error
    try:
        check(file, expected)
        if expected == ABSENT:
            _publish_new(temporary, file)
        elif expected is None or not _swap_in(temporary, file, expected, etag(data)):
            temporary.replace(file)
        sync_folder(file.parent)
    except OSError as error:
        raise failed("write", file, error) from error
    finally:
        temporary.unlink(missing_ok=True)


def remove(file: Path, aside: Path, expected: str) -> None:
    """Remove a file by way of a free name on its disk; raise Conflict unless it is as expected.

    What is looked at has lost its name already, so that nobody can save to it any more.
    """
    check(file, expected)
    try:
        file.replace(aside)
        if _untouched(aside, expected):
            aside.unlink()
        else:
            _publish_new(aside, file)
            aside.unlink(missing_ok=True)
            raise _changed(file, expected, current(file))
        sync_folder(file.parent)
    except OSError as error:
        raise failed("remove", file, error) from error


def move(source: Path, target: Path) -> None:
    """Move a file to a name that is free."""
    try:
        make_folder(target.parent)
        if target.exists() and not target.samefile(
            source
        ):  # a change of case alone is the same file
            raise taken(target.name)
        source.replace(target)
        sync_folder(target.parent)
        sync_folder(source.parent)
    except OSError as error:
        raise failed("move", source, error) from error


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, durably."""
    if not folder.is_dir():
        make_folder(folder.parent)
        folder.mkdir(exist_ok=True)
        sync_folder(folder.parent)


def sync_folder(folder: Path) -> None:
    """Make renames in a folder durable, where the system can (Windows has no such call)."""
    if os.name == "nt":  # pragma: no cover
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def failed(verb: str, file: Path, error: OSError) -> StorageFailed:
    """Say what the disk refused, and what to do about it."""
    hints = {
        errno.ENOSPC: "free some space and try again: nothing was changed",
        errno.EDQUOT: "free some of your quota and try again: nothing was changed",
        errno.EROFS: "the file system is read-only: nothing was changed",
        errno.EACCES: "check the permissions: nothing was changed",
        errno.EPERM: "check the permissions: nothing was changed",
    }
    reason = error.strerror or str(error)
    return StorageFailed(f"can't {verb} {file}: {reason}", hints.get(error.errno or 0, ""))


def taken(path: str) -> NoteExists:
    """Say that a name is not free."""
    return NoteExists(f"{path} exists already", "choose another name, or update that note")


def _changed(file: Path, expected: str, found: str) -> Conflict:
    return Conflict(
        f"{file.name} changed since it was read: expected etag {expected},"
        f" found {found or 'no file'}",
        "read it again, then repeat the change on what it says now",
    )


def _untouched(file: Path, expected: str) -> bool:
    """Tell whether a file that lost its name is as expected, and stays so.

    Whether it is being written is asked first: a write that ends in between is seen in its bytes.
    """
    return not written_now(file) and current(file) == expected


def _swap_in(temporary: Path, file: Path, expected: str, ours: str) -> bool:
    """Put a new file in the place of one that is as expected; False where files can't be swapped.

    What came out is put back if it is another. Should somebody have saved once more meanwhile,
    that comes out instead of ours and is put in again: the newest version of theirs stays.
    """
    try:
        _await_writers(file)
        if not swap(temporary, file):
            return False
    except FileNotFoundError:
        raise _changed(file, expected, ABSENT) from None
    inside = ours
    while not (inside == ours and _untouched(temporary, expected)):
        found = current(temporary)
        swap(temporary, file)
        if current(temporary) == inside:
            raise _changed(file, expected, found)
        inside = found
    return True


def _await_writers(file: Path) -> None:
    deadline = time.monotonic() + _WRITTEN
    while written_now(file):
        if time.monotonic() > deadline:
            raise Conflict(f"{file.name} is being written by another program", "try again")
        time.sleep(0.005)


def _write_temporary(file: Path, data: bytes, mode: int) -> Path:
    temporary = file.parent / f"{TEMPORARY_PREFIX}{os.urandom(6).hex()}"
    handle = os.open(
        temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode
    )
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        if file.exists():
            temporary.chmod(file.stat().st_mode & 0o7777)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
    return temporary


def _publish_new(temporary: Path, file: Path) -> None:
    """Give a new file its name without ever replacing one that appeared meanwhile."""
    try:
        os.link(temporary, file)
    except FileExistsError:
        raise taken(file.name) from None
    except OSError:  # a file system without hard links: the lock of the bank still keeps us alone
        check(file, ABSENT)
        temporary.replace(file)
