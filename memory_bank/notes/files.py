"""Read and replace files atomically, with checks of their etags."""

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
from memory_bank.notes.atomic_exchange import exchange, open_for_writing
from memory_bank.notes.folders import Entry, entry, held, is_link
from memory_bank.notes.identity import etag

_WRITTEN = 0.5
"""Seconds to wait for a program that is in the middle of a write."""
_PART = 1 << 20
ABSENT = ""
"""The etag of a file that isn't there."""
SHORT = 16
"""Minimum number of digits of an abbreviated etag: 64 bits don't collide by chance."""


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
    """Open a file's folder as `folders.held` does; convert OSError to StorageFailed.

    `verb` says in the message what can't be done: read, write, move.
    """
    try:
        with held(root, path, make=make) as file:
            yield file
    except OSError as error:
        raise failed(verb, root / path, error) from error


def read_in(root: Path, path: str) -> bytes | None:
    """Return the bytes of a file below `root`; None if there is none. Errors as in `read`."""
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
    """Raise Conflict or NoteExists unless the file has the expected etag; None allows any.

    An etag may be abbreviated to SHORT digits.
    """
    if expected is not None:
        file = entry(file)
        _compare(file.path.name, current(file), expected)


def check_in(root: Path, path: str, expected: str) -> None:
    """Check a file below `root` as `check` does."""
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

    `expected` is the etag the file must have at the moment of the rename (ABSENT: no file); else
    Conflict or NoteExists is raised and nothing changed. Where the system can exchange files, this
    also holds if a program without a lock writes the file.
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
        elif expected is None or not _exchange_if_unchanged(temporary, file, expected, etag(data)):
            temporary.replace(file)
        file.sync()
    except OSError as error:
        raise failed("write", file.path, error) from error
    finally:
        temporary.unlink()


def remove(file: Entry | Path, aside: Entry | Path, expected: str) -> None:
    """Rename a file to `aside`, then remove it; raise Conflict unless it is as expected.

    It is checked after the rename, so that no program can save to it in between.
    """
    file, aside = entry(file), entry(aside)
    check(file, expected)
    try:
        file.replace(aside)
        if _unchanged(aside, expected):
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
    """Copy a file with its mode and times to a free name; not synced to the disk."""
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
        entry(folder).sync()


def failed(verb: str, file: Path, error: OSError) -> StorageFailed:
    """Return the error for a refusal of the disk, with what to do."""
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
    """Return the error for a name that is not free."""
    return NoteExists(f"{path} exists already", Hint.CHOOSE_ANOTHER_NAME)


def _changed(name: str, expected: str, found: str) -> Conflict:
    return Conflict(
        f"{name} changed since it was read: expected etag {expected}, found {found or 'no file'}",
        Hint.READ_AND_REPEAT,
    )


def _unchanged(file: Entry, expected: str) -> bool:
    """Tell whether a file that lost its name is as expected, and will stay so.

    Open writers are checked first: a write that ends afterwards shows in the bytes.
    """
    return not open_for_writing(file) and current(file) == expected


def _exchange_if_unchanged(temporary: Entry, file: Entry, expected: str, ours: str) -> bool:
    """Replace a file if it is as expected; return False if the system can't exchange files.

    If the replaced file is not as expected, exchange back. If another program saved once more
    meanwhile, that brings out its newest version instead of ours; exchange again to keep it.
    """
    try:
        _await_writers(file)
        if not exchange(temporary, file):
            return False
    except FileNotFoundError:
        raise _changed(file.path.name, expected, ABSENT) from None
    inside = ours
    while not (inside == ours and _unchanged(temporary, expected)):
        found = current(temporary)
        exchange(temporary, file)
        if current(temporary) == inside:
            raise _changed(file.path.name, expected, found)
        inside = found
    return True


def _await_writers(file: Entry) -> None:
    deadline = time.monotonic() + _WRITTEN
    while open_for_writing(file):
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
    """Rename a new file; raise NoteExists instead of replacing a file that appeared meanwhile."""
    try:
        temporary.link(file)
    except FileExistsError:
        raise taken(file.path.name) from None
    except OSError:  # a file system without hard links: only the bank's lock protects the name
        check(file, ABSENT)
        temporary.replace(file)
