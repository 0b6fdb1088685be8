"""Scan a bank for its files; read and replace them atomically, with checks of their etags.

An editor takes no lock and may save a file between our last check and the rename over it. So the
new file is exchanged with the old one, the old one is checked, and exchanged back if it is not as
expected. Linux supports this on its usual file systems; elsewhere only the check before is made.
"""

from __future__ import annotations

import errno
import os
import sys
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from stat import S_ISDIR, S_ISLNK, S_ISREG
from typing import TYPE_CHECKING

from memory_bank.base import filenames
from memory_bank.base.errors import BadName, Conflict, Hint, NoBank, NoteExists, StorageFailed
from memory_bank.base.filenames import (
    NOTE_SUFFIXES,
    TEMPORARY_PREFIX,
    TEXT_SUFFIXES,
    StatSignature,
    as_utf8,
    is_utf8,
)
from memory_bank.notes.characters import to_nfc
from memory_bank.notes.identity import hash_bytes
from memory_bank.notes.storage.folders import (
    FolderEntry,
    folder_entry,
    hold_folder,
    link_error,
    open_folder,
)

if TYPE_CHECKING:
    import ctypes

_WORKING_DIRECTORY = -100
"""AT_FDCWD: paths are relative to the working directory."""

_EXCHANGE = 2

_UNSUPPORTED = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM)


def exchange(first: FolderEntry, second: FolderEntry) -> bool:
    """Exchange two files; return False if the system can't. Raises OSError for other failures."""
    library = _load_library()
    if library is None:
        return False
    folders = [
        _WORKING_DIRECTORY if file.folder is None else file.folder for file in (first, second)
    ]
    names = os.fsencode(first.name), os.fsencode(second.name)
    if library.renameat2(folders[0], names[0], folders[1], names[1], _EXCHANGE) == 0:
        return True
    import ctypes  # start-up: reading needs none

    number = ctypes.get_errno()
    if number in _UNSUPPORTED:
        return False
    raise OSError(number, os.strerror(number), str(second.path))


def open_for_writing(file: FolderEntry | Path) -> bool:
    """Return whether a program has a file open for writing; False if that can't be known.

    The kernel then refuses a read lease. A granted lease is released at once. Its signal, sent if
    the file is opened meanwhile, is set to one that is ignored: the default would end the process.
    """
    if sys.platform != "linux":
        return False
    import fcntl
    import signal

    handle = folder_entry(file).open(os.O_RDONLY)
    try:
        fcntl.fcntl(handle, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except OSError as error:
        return error.errno == errno.EAGAIN
    finally:
        os.close(handle)
    return False


@cache
def _load_library() -> ctypes.CDLL | None:
    if sys.platform != "linux":
        return None
    import ctypes  # start-up: reading needs none

    library = ctypes.CDLL(None, use_errno=True)
    return library if hasattr(library, "renameat2") else None


_WRITE_WAIT = 0.5
"""Seconds to wait for a program that is in the middle of a write."""

_PART = 1 << 20

ABSENT = ""
"""The etag of a file that isn't there."""

SHORT = 16
"""Minimum number of digits of an abbreviated etag: 64 bits don't collide by chance."""


def read(file: FolderEntry | Path) -> bytes | None:
    """Return a file's bytes; None when there is no such file.

    Raises BadName for a symbolic link in a folder that is held open, StorageFailed otherwise.
    """
    file = folder_entry(file)
    try:
        with os.fdopen(file.open(os.O_RDONLY), "rb", buffering=0) as stream:
            return stream.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if error.errno == errno.ELOOP and file.folder is not None:
            raise link_error(file.path.name) from None
        raise refusal_error("read", file.path, error) from error


@contextmanager
def open_parent(root: Path, path: str, verb: str, *, make: bool = False) -> Iterator[FolderEntry]:
    """Open a file's folder as `folders.hold_folder` does; convert OSError to StorageFailed.

    The message says with `verb` what can't be done: read, write, move.
    """
    try:
        with hold_folder(root, path, make=make) as file:
            yield file
    except OSError as error:
        raise refusal_error(verb, root / path, error) from error


def read_in(root: Path, path: str) -> bytes | None:
    """Return the bytes of a file below `root`; None if there is none. Errors as in `read`."""
    try:
        with hold_folder(root, path) as file:
            return read(file)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise refusal_error("read", root / path, error) from error


def current_in(root: Path, path: str) -> str:
    """Return the etag of a file below `root` as it is now, ABSENT when it isn't there."""
    data = read_in(root, path)
    return ABSENT if data is None else hash_bytes(data)


def current_etag(file: FolderEntry | Path) -> str:
    """Return the etag of a file as it is now, ABSENT when it isn't there."""
    data = read(file)
    return ABSENT if data is None else hash_bytes(data)


def check(file: FolderEntry | Path, expected: str | None) -> None:
    """Raise Conflict or NoteExists unless the file has the expected etag; None allows any.

    An etag may be abbreviated to SHORT digits.
    """
    if expected is not None:
        file = folder_entry(file)
        _check_etag(file.path.name, current_etag(file), expected)


def check_in(root: Path, path: str, expected: str) -> None:
    """Check a file below `root` as `check` does."""
    _check_etag(path, current_in(root, path), expected)


def _check_etag(name: str, etag: str, expected: str) -> None:
    if etag == expected or (len(expected) >= SHORT and etag.startswith(expected)):
        return
    if expected == ABSENT:
        raise taken_error(name)
    raise _conflict_error(name, expected, etag)


def replace(
    file: FolderEntry | Path, data: bytes, expected: str | None = None, *, mode: int = 0o666
) -> None:
    """Write a file atomically and durably; its mode stays, a new one has `mode` less the umask.

    `expected` is the etag the file must have at the moment of the rename (ABSENT: no file); else
    Conflict or NoteExists is raised and nothing changed. Where the system can exchange files, this
    also holds if a program without a lock writes the file.
    """
    file = folder_entry(file)
    try:
        if file.folder is None:
            make_folder(file.path.parent)
        temporary = _write_temporary(file, data, mode)
    except OSError as error:
        raise refusal_error("write", file.path, error) from error
    try:
        check(file, expected)
        if expected == ABSENT:
            _publish_new(temporary, file)
        elif expected is None or not _exchange_if_unchanged(
            temporary, file, expected, hash_bytes(data)
        ):
            temporary.replace(file)
        file.sync()
    except OSError as error:
        raise refusal_error("write", file.path, error) from error
    finally:
        temporary.unlink()


def remove(file: FolderEntry | Path, aside: FolderEntry | Path, expected: str) -> None:
    """Rename a file to `aside`, then remove it; raise Conflict unless it is as expected.

    It is checked after the rename, so that no program can save to it in between.
    """
    file, aside = folder_entry(file), folder_entry(aside)
    check(file, expected)
    try:
        file.replace(aside)
        if is_unchanged(aside, expected):
            aside.unlink()
        else:
            _publish_new(aside, file)
            aside.unlink()
            raise _conflict_error(file.path.name, expected, current_etag(file))
        file.sync()
    except OSError as error:
        raise refusal_error("remove", file.path, error) from error


def move(source: FolderEntry | Path, target: FolderEntry | Path) -> None:
    """Move a file to a name that is free."""
    source, target = folder_entry(source), folder_entry(target)
    try:
        if target.folder is None:
            make_folder(target.path.parent)
        # a change of case alone is the same file
        if target.exists() and not os.path.samestat(target.stat(), source.stat()):
            raise taken_error(target.path.name)
        source.replace(target)
        target.sync()
        source.sync()
    except OSError as error:
        raise refusal_error("move", source.path, error) from error


def copy(source: FolderEntry, target: FolderEntry) -> None:
    """Copy a file with its mode and times to a free name; not synced to the disk."""
    with os.fdopen(source.open(os.O_RDONLY), "rb") as source_file:
        stat = os.fstat(source_file.fileno())
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        with os.fdopen(target.open(flags, 0o600), "wb") as stream:
            while part := source_file.read(_PART):
                stream.write(part)
            stream.flush()
            _set_mode(stream.fileno(), target, stat.st_mode & 0o7777)
            times = (stat.st_atime_ns, stat.st_mtime_ns)
            os.utime(stream.fileno() if os.utime in os.supports_fd else target.name, ns=times)


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, durably."""
    if not folder.is_dir():
        make_folder(folder.parent)
        folder.mkdir(exist_ok=True)
        folder_entry(folder).sync()


def refusal_error(verb: str, file: Path, error: OSError) -> StorageFailed:
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


def taken_error(path: str) -> NoteExists:
    """Return the error for a name that is not free."""
    return NoteExists(f"{path} exists already", Hint.CHOOSE_ANOTHER_NAME)


def _conflict_error(name: str, expected: str, etag: str) -> Conflict:
    return Conflict(
        f"{name} changed since it was read: expected etag {expected}, found {etag or 'no file'}",
        Hint.READ_AND_REPEAT,
    )


def is_unchanged(file: FolderEntry, expected: str) -> bool:
    """Return whether a file that lost its name is as expected, and will stay so.

    Open writers are checked first: a write that ends afterwards shows in the bytes.
    """
    return not open_for_writing(file) and current_etag(file) == expected


def _exchange_if_unchanged(
    temporary: FolderEntry, file: FolderEntry, expected: str, ours: str
) -> bool:
    """Replace a file if it is as expected; return False if the system can't exchange files.

    If the replaced file is not as expected, exchange back. If another program saved once more
    meanwhile, that brings out its newest version instead of ours; exchange again to keep it.
    """
    try:
        _await_writers(file)
        if not exchange(temporary, file):
            return False
    except FileNotFoundError:
        raise _conflict_error(file.path.name, expected, ABSENT) from None
    inside = ours
    while not (inside == ours and is_unchanged(temporary, expected)):
        replaced = current_etag(temporary)
        exchange(temporary, file)
        if current_etag(temporary) == inside:
            raise _conflict_error(file.path.name, expected, replaced)
        inside = replaced
    return True


def _await_writers(file: FolderEntry) -> None:
    deadline = time.monotonic() + _WRITE_WAIT
    while open_for_writing(file):
        if time.monotonic() > deadline:
            raise Conflict(f"{file.path.name} is being written by another program", Hint.TRY_AGAIN)
        time.sleep(0.005)


def _write_temporary(file: FolderEntry, data: bytes, mode: int) -> FolderEntry:
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


def _set_mode(handle: int, file: FolderEntry, mode: int) -> None:
    if os.chmod in os.supports_fd:
        os.chmod(handle, mode)
    else:  # pragma: no cover  (Windows)
        file.path.chmod(mode)


def _publish_new(temporary: FolderEntry, file: FolderEntry) -> None:
    """Rename a new file; raise NoteExists instead of replacing a file that appeared meanwhile."""
    try:
        temporary.link(file)
    except FileExistsError:
        raise taken_error(file.path.name) from None
    except OSError:  # a file system without hard links: only the bank's lock protects the name
        check(file, ABSENT)
        temporary.replace(file)


UNKNOWN = ""
"""The signature of a file that must be read again."""

_LINK = "symbolic link: not followed"

_NO_NOTE = "its name ends in none of .md, .markdown and .mdc: mind the case"

MISSING = "there is no such file or folder"


class FileScan:
    """The result of a scan, by path below the bank."""

    def __init__(self) -> None:
        self.files: dict[str, StatSignature] = {}
        self.refused: dict[str, str] = {}
        """Files that can't be notes, with the reason."""
        self.texts: list[str] = []
        """Text files whose names do not end like those of notes."""
        self.leftover: list[str] = []
        """Temporary files, of a running or a killed writer."""


def scan(root: Path) -> FileScan:
    """Scan all Markdown files below `root`, except in hidden folders.

    Raises StorageFailed for a folder that can't be read (its notes are not gone) and NoBank when
    the root itself is missing.
    """
    if not root.is_dir():
        raise NoBank(f"the bank {root} is gone", "its index is kept; bring the folder back")
    file_scan = FileScan()
    try:
        _walk(str(root), None, "", file_scan)
    except (NotADirectoryError, FileNotFoundError) as error:
        raise NoBank(f"the bank {root} is gone", "bring the folder back") from error
    return file_scan


def scan_part(
    root: Path, path: str, file_scan: FileScan, folders: Collection[str] | None = None
) -> str:
    """Add a file below `root`, or the Markdown files of a folder, to a scan.

    Only those subfolders are read that `folders` has, in NFC and with a slash at their ends.
    Returns why the file or folder can't be read, else an empty text. Raises StorageFailed as `scan`
    does.
    """
    try:
        if path == ".":
            _walk(str(root), None, "", file_scan, folders)
            return ""
        with hold_folder(root, path) as entry:
            stat = os.stat(entry.name, dir_fd=entry.folder, follow_symlinks=False)
            if S_ISDIR(stat.st_mode):
                _walk(str(root / path), entry.folder, f"{path}/", file_scan, folders)
                return ""
    except BadName:
        return _LINK
    except (FileNotFoundError, NotADirectoryError):
        return MISSING
    except OSError as error:
        raise _unreadable_error(str(root / path), error) from error
    reason = _why_no_note(path, stat.st_mode)
    if not reason:
        file_scan.files[path] = filenames.read_signature(stat)
    return reason


def _why_no_note(path: str, mode: int) -> str:
    """Return why a file can't be a note; empty if it can."""
    if S_ISLNK(mode):
        return _LINK
    if not S_ISREG(mode):
        return "neither a plain file nor a folder"
    return "" if path.endswith(NOTE_SUFFIXES) else _NO_NOTE


def _walk(
    folder: str,
    above: int | None,
    prefix: str,
    file_scan: FileScan,
    folders: Collection[str] | None = None,
) -> None:
    """Scan a folder in the open folder `above`, then its subfolders: all, or those in `folders`.

    Raises NotADirectoryError or FileNotFoundError where it is no folder any more.
    """
    subfolders: list[str] = []
    is_prefix_utf8 = is_utf8(prefix)
    handle = None
    try:
        handle = open_folder(folder, above)
        with os.scandir(folder if handle is None else handle) as entries:
            for entry in entries:
                name = entry.name
                if name.endswith(NOTE_SUFFIXES) and name[0] != ".":
                    if entry.is_file(follow_symlinks=False) and is_prefix_utf8 and is_utf8(name):
                        try:
                            stat = entry.stat(follow_symlinks=False)
                        except FileNotFoundError:
                            continue  # removed meanwhile
                        # not `read_signature`: a call for each note before each answer is slow
                        file_scan.files[prefix + name] = (
                            stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino
                        )  # fmt: skip
                    else:
                        _refuse(entry, prefix + name, file_scan)
                elif name[0] != "." and entry.is_dir(follow_symlinks=False):
                    subfolders.append(name)
                else:
                    _skip(entry, prefix + name, file_scan)
        for name in _choose_subfolders(subfolders, prefix, folders):
            with suppress(NotADirectoryError, FileNotFoundError):  # its notes are gone, too
                _walk(f"{folder}{os.sep}{name}", handle, f"{prefix}{name}/", file_scan, folders)
    except (NotADirectoryError, FileNotFoundError):
        raise
    except OSError as error:
        raise _unreadable_error(folder, error) from error
    finally:
        if handle is not None:
            os.close(handle)


def _choose_subfolders(names: list[str], prefix: str, folders: Collection[str] | None) -> list[str]:
    if folders is None:
        return names
    return [name for name in names if to_nfc(f"{prefix}{name}/") in folders]


def _unreadable_error(folder: str, error: OSError) -> StorageFailed:
    return StorageFailed(
        f"can't read the folder {folder}: {error.strerror}",
        "check its permissions; what is indexed of it stays as it is",
    )


def _refuse(entry: os.DirEntry[str], path: str, file_scan: FileScan) -> None:
    if entry.is_file(follow_symlinks=False):
        file_scan.refused[as_utf8(path)] = "its name is not UTF-8"
    else:
        file_scan.refused[as_utf8(path)] = _LINK if entry.is_symlink() else "not a plain file"


def _skip(entry: os.DirEntry[str], path: str, file_scan: FileScan) -> None:
    """Skip an entry, but record it if it may be meant as notes."""
    if entry.name.startswith("."):
        if entry.name.startswith(TEMPORARY_PREFIX):
            file_scan.leftover.append(path)
    elif entry.name.lower().endswith(NOTE_SUFFIXES):
        file_scan.refused[as_utf8(path)] = _NO_NOTE
    elif entry.name.lower().endswith(TEXT_SUFFIXES):
        if entry.is_file(follow_symlinks=False) and is_utf8(path):
            file_scan.texts.append(path)
    elif entry.is_symlink():
        with suppress(OSError):  # as of a link that leads to itself
            if entry.is_dir():
                file_scan.refused[as_utf8(f"{path}/")] = _LINK
