"""Names and stamps of the files of a bank, at the cost of one look at each."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterator
from pathlib import Path
from stat import S_ISREG

from memory_bank.errors import NoBank, StorageFailed
from memory_bank.filenames import NOTE_SUFFIXES, TEMPORARY_PREFIX

Stamp = tuple[int, int, int, int]
"""Size, mtime and ctime in ns, inode: while they stay, so do the file's bytes."""

_RACY_NS = 100_000_000
"""A file younger than this may change again without its stamp changing: clocks tick coarsely."""
_SKEW_NS = 60_000_000_000
"""An mtime farther in the future was set by hand; the ctime tells of changes then."""
_LINK = "symbolic link: not followed"


class Scan:
    """What a scan met, by path below the bank."""

    def __init__(self) -> None:
        """Start with nothing."""
        self.files: dict[str, Stamp] = {}
        self.refused: dict[str, str] = {}
        """Files that can't be notes, with the reason."""
        self.leftover: list[str] = []
        """Temporary files: of a writer at work, or of one that was killed."""


def scan(root: Path) -> Scan:
    """Look at every Markdown file below `root`, hidden folders left out.

    Raises StorageFailed for a folder that can't be read (its notes are not gone) and NoBank when
    the root itself is missing.
    """
    if not root.is_dir():
        raise NoBank(f"the bank {root} is gone", "its index is kept; bring the folder back")
    found = Scan()
    _walk(str(root), "", found)
    return found


def look(root: Path, paths: Collection[str]) -> Scan | None:
    """Look at some files only; None when one of them is there but can't be a note."""
    found = Scan()
    for path in paths:
        try:
            stat = os.lstat(f"{root}{os.sep}{path}")
        except (FileNotFoundError, NotADirectoryError):
            continue
        if not (S_ISREG(stat.st_mode) and path.endswith(NOTE_SUFFIXES) and is_text(path)):
            return None
        found.files[path] = _stamp(stat)
    return found


def stamp(file: Path) -> Stamp | None:
    """Return the stamp of one file; None when there is no plain file."""
    try:
        return _stamp(file.lstat())
    except FileNotFoundError:
        return None


def trusted(stamp: Stamp) -> Stamp:
    """Return the stamp to record.

    That of a file so young that it may still change unseen has its size only, and equals no
    other: the file is looked into again.
    """
    size, mtime, ctime, _ = stamp
    now = time.time_ns()
    young = ctime > now - _RACY_NS or now - _RACY_NS < mtime < now + _SKEW_NS
    return unknown(size) if young else stamp


def unknown(size: int) -> Stamp:
    """Return the stamp of a file that must be looked into again."""
    return size, 0, 0, 0


def _walk(folder: str, prefix: str, found: Scan) -> None:
    below: list[str] = []
    named = is_text(prefix)
    try:
        with _Entries(folder) as entries:
            for entry in entries:
                name = entry.name
                if name.endswith(NOTE_SUFFIXES) and name[0] != ".":
                    if entry.is_file(follow_symlinks=False) and named and is_text(name):
                        try:
                            stat = entry.stat(follow_symlinks=False)
                        except FileNotFoundError:
                            continue  # removed while we looked
                        # no call of `_stamp`: this is done for every note before each answer
                        found.files[prefix + name] = (
                            stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino
                        )  # fmt: skip
                    else:
                        _refuse(entry, prefix + name, found)
                elif name[0] != "." and entry.is_dir(follow_symlinks=False):
                    below.append(name)
                else:
                    _pass(entry, prefix + name, found)
    except FileNotFoundError:
        return  # removed while we looked: its notes are gone indeed
    except OSError as error:
        raise StorageFailed(
            f"can't read the folder {folder}: {error.strerror}",
            "check its permissions; what is indexed of it stays as it is",
        ) from error
    for name in below:
        _walk(f"{folder}{os.sep}{name}", f"{prefix}{name}/", found)


class _Entries:
    """A folder opened for reading its entries.

    By its descriptor where there are such: the system need not find the way to each file anew,
    which is a third of the time.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._descriptor = -1

    def __enter__(self) -> Iterator[os.DirEntry[str]]:
        if os.scandir in os.supports_fd:
            self._descriptor = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            self._open = os.scandir(self._folder if self._descriptor < 0 else self._descriptor)
        except OSError:
            self._let_go()
            raise
        return self._open

    def __exit__(self, *error: object) -> None:
        self._open.close()
        self._let_go()

    def _let_go(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)


def _refuse(entry: os.DirEntry[str], path: str, found: Scan) -> None:
    if entry.is_file(follow_symlinks=False):
        found.refused[_shown(path)] = "its name is not UTF-8"
    else:
        found.refused[_shown(path)] = _LINK if entry.is_symlink() else "not a plain file"


def _pass(entry: os.DirEntry[str], path: str, found: Scan) -> None:
    """Leave a file out, but name it where one would take it for notes."""
    if entry.name.startswith("."):
        if entry.name.startswith(TEMPORARY_PREFIX):
            found.leftover.append(path)
    elif entry.name.lower().endswith(NOTE_SUFFIXES):
        found.refused[_shown(path)] = "its name ends in neither .md nor .markdown: mind the case"
    elif entry.is_symlink() and entry.is_dir():
        found.refused[_shown(f"{path}/")] = _LINK


def _shown(path: str) -> str:
    return path.encode("utf-8", "replace").decode()


def _stamp(stat: os.stat_result) -> Stamp:
    return stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino


def is_text(path: str) -> bool:
    """Tell whether a name can be written in UTF-8."""
    if path.isascii():
        return True
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
