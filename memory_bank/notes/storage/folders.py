"""Access files below a folder without following symbolic links.

Each part of a path is opened relative to the folder before it. So a folder that is replaced by a
symbolic link meanwhile has no effect: the operation takes place in the folder that was opened.
Where the system has no such calls, paths are checked and then used.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from stat import S_ISDIR, S_ISLNK, S_ISREG

from memory_bank.base.errors import BadName, Hint

HOLDS = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")
"""Whether the system can look up names relative to an open folder."""

_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)

_NO_LINK = getattr(os, "O_NOFOLLOW", 0)

_PLAIN = _NO_LINK | getattr(os, "O_NONBLOCK", 0)

_BINARY = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


class FolderEntry:
    """A file name in an open folder, or a path that the user gave."""

    __slots__ = ("folder", "name", "path")

    def __init__(self, path: Path, folder: int | None = None) -> None:
        """Take the last part of `path` in the open folder; without a folder, the whole path."""
        self.path = path
        """The path that errors name."""
        self.folder = folder
        self.name = str(path) if folder is None else path.name

    def beside(self, name: str) -> FolderEntry:
        """Return another name in the same folder."""
        return FolderEntry(self.path.with_name(name), self.folder)

    def open(self, flags: int, mode: int = 0o666) -> int:
        """Open the file; follow a symbolic link only in a path that the user gave."""
        plain = 0 if self.folder is None else _PLAIN
        return os.open(self.name, flags | _BINARY | plain, mode, dir_fd=self.folder)

    def stat(self) -> os.stat_result:
        """Return the file's status; follow a symbolic link only in a path that the user gave."""
        return os.stat(self.name, dir_fd=self.folder, follow_symlinks=self.folder is None)

    def exists(self) -> bool:
        """Return whether something has this name."""
        try:
            self.stat()
        except (FileNotFoundError, NotADirectoryError):
            return False
        return True

    def replace(self, target: FolderEntry) -> None:
        """Rename the file to `target`; replace a file that has this name."""
        os.replace(self.name, target.name, src_dir_fd=self.folder, dst_dir_fd=target.folder)

    def link(self, target: FolderEntry) -> None:
        """Make a hard link `target`; raise FileExistsError if the name is taken."""
        os.link(
            self.name, target.name, src_dir_fd=self.folder, dst_dir_fd=target.folder,
            follow_symlinks=self.folder is None,
        )  # fmt: skip

    def unlink(self) -> None:
        """Remove the name, if it exists."""
        try:
            os.unlink(self.name, dir_fd=self.folder)
        except FileNotFoundError:
            return

    def rmdir(self) -> None:
        """Remove the folder of that name; raise OSError unless it is empty."""
        os.rmdir(self.name, dir_fd=self.folder)

    def sync(self) -> None:
        """Make renames in the folder durable, where the system can (Windows has no such call)."""
        if os.name == "nt":  # pragma: no cover
            return
        handle = os.open(self.path.parent, os.O_RDONLY) if self.folder is None else self.folder
        try:
            os.fsync(handle)
        finally:
            if handle != self.folder:
                os.close(handle)


def folder_entry(file: FolderEntry | Path) -> FolderEntry:
    """Return a path as an entry; an entry stays."""
    return file if isinstance(file, FolderEntry) else FolderEntry(file)


@contextmanager
def hold_folder(root: Path, path: str, *, make: bool = False) -> Iterator[FolderEntry]:
    """Open the folder of a path below `root`, made with `make`; `root` must be resolved.

    Raises BadName if a part of the path is a symbolic link, FileNotFoundError or NotADirectoryError
    if the folder does not exist.
    """
    parts = path.split("/")
    if not {"", ".", ".."}.isdisjoint(parts):
        raise leaving_error(path)
    if not HOLDS:  # pragma: no cover
        file = resolve_inside(root, path)
        if make:
            file.parent.mkdir(parents=True, exist_ok=True)
        yield FolderEntry(file)
        return
    handle = _open_part(str(root), None, path)
    try:
        for part in parts[:-1]:
            child = _make_part(part, handle, path) if make else _open_part(part, handle, path)
            os.close(handle)
            handle = child
        yield FolderEntry(root / path, handle)
    finally:
        os.close(handle)


def _open_part(part: str, above: int | None, path: str) -> int:
    try:
        return os.open(part, _FOLDER | _NO_LINK, dir_fd=above)
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.ENOTDIR} and _is_link(part, above):
            raise leaving_error(path) from None
        raise


def _make_part(part: str, above: int, path: str) -> int:
    try:
        return _open_part(part, above, path)
    except FileNotFoundError:
        try:
            os.mkdir(part, dir_fd=above)
        except FileExistsError:
            pass
        else:
            os.fsync(above)
        return _open_part(part, above, path)


def _is_link(part: str, above: int | None) -> bool:
    try:
        return S_ISLNK(os.stat(part, dir_fd=above, follow_symlinks=False).st_mode)
    except OSError:
        return False


def leaving_error(path: str) -> BadName:
    """Return the error for a path that leads out of the bank."""
    return BadName(f"{path!r} leaves the bank", Hint.NAME_BELOW_BANK)


def link_error(path: str) -> BadName:
    """Return the error for a note that is a symbolic link."""
    return BadName(f"{path!r} is a symbolic link", "memory-bank reads and writes plain files only")


def resolve_inside(root: Path, path: str) -> Path:
    """Return the file of a path below `root`; raise BadName when links lead out of the bank."""
    file = root / path
    folder = os.path.realpath(file.parent)
    if folder != str(root) and not folder.startswith(str(root) + os.sep):
        raise leaving_error(path)
    if file.is_symlink():
        raise link_error(path)
    return file


def open_folder(folder: str, above: int | None) -> int | None:
    """Open a folder by its name in the open folder `above`, or by its path.

    Returns None if the system has no such calls. Raises NotADirectoryError for a symbolic link.
    """
    if not HOLDS:  # pragma: no cover
        return None
    part = folder if above is None else Path(folder).name
    return os.open(part, _FOLDER | _NO_LINK, dir_fd=above)


def names_in(root: Path, path: str = "") -> list[str]:
    """Return the names in a folder below `root`; none if it is missing or a symbolic link."""
    try:
        with hold_folder(root, f"{path}/x".lstrip("/")) as entry:
            folder = entry.path.parent if entry.folder is None else entry.folder
            return os.listdir(folder)  # noqa: PTH208  (an open folder has no path)
    except (FileNotFoundError, NotADirectoryError, BadName):
        return []


def files_in(root: Path, path: str) -> Iterator[str]:
    """Yield the plain files in a folder and in those below it, by path below `root`."""
    for name in names_in(root, path):
        child = f"{path}/{name}"
        stat = read_stat(root, child)
        if stat is not None and S_ISDIR(stat.st_mode):
            yield from files_in(root, child)
        elif stat is not None and S_ISREG(stat.st_mode):
            yield child


def read_stat(root: Path, path: str) -> os.stat_result | None:
    """Return the status of a file below `root`; None if there is none."""
    try:
        with hold_folder(root, path) as entry:
            return os.stat(entry.name, dir_fd=entry.folder, follow_symlinks=False)
    except (FileNotFoundError, NotADirectoryError, BadName):
        return None
