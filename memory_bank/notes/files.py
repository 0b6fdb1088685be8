"""Files that are replaced whole or not at all."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from memory_bank.errors import Conflict, NoteExists, StorageFailed
from memory_bank.filenames import TEMPORARY_PREFIX
from memory_bank.hints import Hint
from memory_bank.notes.atomic_exchange import exchange, written_now
from memory_bank.notes.folders import Entry, entry, held, is_link
from memory_bank.notes.identity import etag

_WRITTEN = 0.5
"""Seconds to wait for a program that is in the middle of a write."""
_PART = 1 << 20
ABSENT = ""
"""The etag of a file that isn't there."""
SHORT = 16
"""Digits of an etag that stand for the whole: 64 bits, which nobody meets by chance."""


def read(file: Entry | Path) -> bytes | None:
    """Return a file's bytes; None when there is no such file.

    Raises BadName for a symbolic link in a folder that is held open, StorageFailed otherwise.
    """
    file = entry(file)
    try:
        with os.fdopen(file.open(os.O_RDONLY), "rb", buffering=0) as stream:
            return stream.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if error.errno == errno.ELOOP and file.folder is not None:
            raise is_link(file.path.name) from None
        raise failed("read", file.path, error) from error


@contextmanager
def opened(root: Path, path: str, verb: str, *, make: bool = False) -> Iterator[Entry]:
    """Hold a file's folder below `root`, made if wanted, as `folders.held` does.

    What the disk refuses is raised as StorageFailed: that the file can't be read, written, moved.
    """
    try:
        with held(root, path, make=make) as file:
            yield file
    except OSError as error:
        raise failed(verb, root / path, error) from error


def read_in(root: Path, path: str) -> bytes | None:
    """Return the bytes of a file below `root`; None where there is none; see `opened`, `read`."""
    try:
        with held(root, path) as file:
            return read(file)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise failed("read", root / path, error) from error


def current_in(root: Path, path: str) -> str:
    """Return the etag of a file below `root` as it is now, ABSENT when it isn't there."""
    data = read_in(root, path)
    return ABSENT if data is None else etag(data)


def current(file: Entry | Path) -> str:
    """Return the etag of a file as it is now, ABSENT when it isn't there."""
    data = read(file)
    return ABSENT if data is None else etag(data)


def check(file: Entry | Path, expected: str | None) -> None:
    """Raise Conflict or NoteExists unless the file is as expected; None expects nothing.

    The first digits of an etag, at least SHORT, stand for the whole.
    """
    if expected is not None:
        file = entry(file)
        _compare(file.path.name, current(file), expected)


def check_in(root: Path, path: str, expected: str) -> None:
    """Raise as `check` does unless a file below `root` is as expected."""
    _compare(path, current_in(root, path), expected)


def _compare(name: str, found: str, expected: str) -> None:
    if found == expected or (len(expected) >= SHORT and found.startswith(expected)):
        return
    if expected == ABSENT:
        raise taken(name)
    raise _changed(name, expected, found)


def replace(
    file: Entry | Path, data: bytes, expected: str | None = None, *, mode: int = 0o666
) -> None:
    """Write a file atomically and durably; its mode stays, a new one has `mode` less the umask.

    `expected` is the etag the file must still have at the moment of the rename (ABSENT: no
    file); else Conflict or NoteExists is raised and nothing changed. Where the system can exchange
    two files, that holds against programs that know of no lock.
    """
    file = entry(file)
    try:
        if file.folder is None:
            make_folder(file.path.parent)
        temporary = _write_temporary(file, data, mode)
    except OSError as error:
        raise failed("write", file.path, error) from error
    try:
        check(file, expected)
        if expected == ABSENT:
            _publish_new(temporary, file)
        elif expected is None or not _exchange_if(temporary, file, expected, etag(data)):
            temporary.replace(file)
        file.sync()
    except OSError as error:
        raise failed("write", file.path, error) from error
    finally:
        temporary.unlink()


def remove(file: Entry | Path, aside: Entry | Path, expected: str) -> None:
    """Remove a file by way of a free name on its disk; raise Conflict unless it is as expected.

    What is looked at has lost its name already, so that nobody can save to it any more.
    """
    file, aside = entry(file), entry(aside)
    check(file, expected)
    try:
        file.replace(aside)
        if _untouched(aside, expected):
            aside.unlink()
        else:
            _publish_new(aside, file)
            aside.unlink()
            raise _changed(file.path.name, expected, current(file))
        file.sync()
    except OSError as error:
        raise failed("remove", file.path, error) from error


def move(source: Entry | Path, target: Entry | Path) -> None:
    """Move a file to a name that is free."""
    source, target = entry(source), entry(target)
    try:
        if target.folder is None:
            make_folder(target.path.parent)
        # a change of case alone is the same file
        if target.exists() and not os.path.samestat(target.stat(), source.stat()):
            raise taken(target.path.name)
        source.replace(target)
        target.sync()
        source.sync()
    except OSError as error:
        raise failed("move", source.path, error) from error


def copy(source: Entry, target: Entry) -> None:
    """Copy a file with its mode and times to a name that is free, for as long as it is needed."""
    with os.fdopen(source.open(os.O_RDONLY), "rb") as taken_from:
        found = os.fstat(taken_from.fileno())
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        with os.fdopen(target.open(flags, 0o600), "wb") as stream:
            while part := taken_from.read(_PART):
                stream.write(part)
            stream.flush()
            _set_mode(stream.fileno(), target, found.st_mode & 0o7777)
            times = (found.st_atime_ns, found.st_mtime_ns)
            os.utime(stream.fileno() if os.utime in os.supports_fd else target.name, ns=times)


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
    return NoteExists(f"{path} exists already", Hint.CHOOSE_ANOTHER_NAME)


def _changed(name: str, expected: str, found: str) -> Conflict:
    return Conflict(
        f"{name} changed since it was read: expected etag {expected}, found {found or 'no file'}",
        Hint.READ_AND_REPEAT,
    )


def _untouched(file: Entry, expected: str) -> bool:
    """Tell whether a file that lost its name is as expected, and stays so.

    Whether it is being written is asked first: a write that ends in between is seen in its bytes.
    """
    return not written_now(file) and current(file) == expected


def _exchange_if(temporary: Entry, file: Entry, expected: str, ours: str) -> bool:
    """Put a new file in the place of one that is as expected; False where files can't be exchanged.

    What came out is put back if it is another. Should somebody have saved once more meanwhile,
    that comes out instead of ours and is put in again: the newest version of theirs stays.
    """
    try:
        _await_writers(file)
        if not exchange(temporary, file):
            return False
    except FileNotFoundError:
        raise _changed(file.path.name, expected, ABSENT) from None
    inside = ours
    while not (inside == ours and _untouched(temporary, expected)):
        found = current(temporary)
        exchange(temporary, file)
        if current(temporary) == inside:
            raise _changed(file.path.name, expected, found)
        inside = found
    return True


def _await_writers(file: Entry) -> None:
    deadline = time.monotonic() + _WRITTEN
    while written_now(file):
        if time.monotonic() > deadline:
            raise Conflict(f"{file.path.name} is being written by another program", Hint.TRY_AGAIN)
        time.sleep(0.005)


def _write_temporary(file: Entry, data: bytes, mode: int) -> Entry:
    temporary = file.beside(f"{TEMPORARY_PREFIX}{os.urandom(6).hex()}")
    handle = temporary.open(os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
            with suppress(FileNotFoundError):
                _set_mode(stream.fileno(), temporary, file.stat().st_mode & 0o7777)
    except OSError:
        temporary.unlink()
        raise
    return temporary


def _set_mode(handle: int, file: Entry, mode: int) -> None:
    if os.chmod in os.supports_fd:
        os.chmod(handle, mode)
    else:  # pragma: no cover  (Windows)
        file.path.chmod(mode)


def _publish_new(temporary: Entry, file: Entry) -> None:
    """Give a new file its name without ever replacing one that appeared meanwhile."""
    try:
        temporary.link(file)
    except FileExistsError:
        raise taken(file.path.name) from None
    except OSError:  # a file system without hard links: the lock of the bank still keeps us alone
        check(file, ABSENT)
        temporary.replace(file)
