"""Write files outside of the bank: configuration files of clients, and places that the user named.

What leads to a place that the user named may be a link of the user's own. A git work tree may
contain a link that somebody else committed: no part of a path below a work tree is followed.
"""

from __future__ import annotations

import errno
import os
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG

from memory_bank.base import NamedTuple
from memory_bank.base.errors import BadInput, BadName, Hint, StorageFailed
from memory_bank.base.filenames import TEMPORARY_PREFIX, work_tree
from memory_bank.notes.identity import hash_bytes
from memory_bank.notes.storage import files, folders
from memory_bank.notes.storage.folders import FolderEntry

PROGRAM = "memory-bank"

RULES = f"{PROGRAM} rules"
"""What is in the marker of each text of rules that this program writes into a file."""


@dataclass(frozen=True, slots=True)
class FileEdit:
    """A planned change of a file."""

    file: Path
    before: str | None
    """The file's text; None if it does not exist."""
    after: str | None
    """The text that it gets; None if it is removed."""

    @property
    def changed(self) -> bool:
        """Whether anything changes."""
        return self.before != self.after

    def write(self, *tops: Path) -> None:
        """Replace the file atomically if it changes; it keeps its mode.

        With a file that is removed go folders that it leaves empty, below `tops`. Raises Conflict
        when the file is no longer what it was, StorageFailed.
        """
        if not self.changed:
            return
        absent = files.ABSENT if self.before is None else hash_bytes(self.before.encode())
        file = self.file.resolve()  # the link to a file kept elsewhere stays a link
        if self.after is not None:
            files.replace(file, self.after.encode(), absent)
            return
        aside = file.with_name(f"{TEMPORARY_PREFIX}{os.urandom(6).hex()}")
        files.remove(file, aside, absent)
        folder = self.file.parent
        with suppress(OSError):  # it has something, or is a link
            while folder not in tops:
                folder.rmdir()
                folder = folder.parent


def find_program() -> list[str]:
    """Return this program's command with its full path, because desktops have another PATH."""
    script = Path(sysconfig.get_path("scripts"), f"{PROGRAM}.exe" if os.name == "nt" else PROGRAM)
    if script.is_file():
        return [str(script)]
    return [sys.executable, "-P", "-m", "memory_bank"]  # -P: not one in the working directory


def read_text(file: Path, hint: Hint = Hint.EDIT_BY_HAND) -> str | None:
    """Return the text of a file; None if it does not exist. Raises BadInput, StorageFailed."""
    data = files.read(file)
    if data is None and file.is_symlink() and not file.exists():
        raise StorageFailed(f"{file} is a link that leads nowhere", "remove it, or repair it")
    with explain_errors(file, hint):
        return None if data is None else data.decode()


def project_file(project: Path, name: str, hint: str = "remove the link") -> Path:
    """Return a file of a project; raise BadInput if a link of the repository leads out of it."""
    file = project / name
    if not file.resolve().is_relative_to(project.resolve()):
        raise BadInput(f"{file} leads out of the project", hint)
    return file


@contextmanager
def explain_errors(file: Path, hint: Hint = Hint.EDIT_BY_HAND) -> Iterator[None]:
    """Add the file to errors of reading and changing it."""
    try:
        yield
    except UnicodeDecodeError as error:
        reason = f"byte {error.start + 1} is no UTF-8"
        raise BadInput(f"{file} stays as it is: {reason}", hint) from error
    except BadInput as error:
        if error.hint:
            raise
        raise BadInput(f"{file} stays as it is: {error.message}", hint) from error


_MOST_LINKS = 40
"""Symbolic links that are followed in a path, as by Linux."""


class OutputFolder(NamedTuple):
    """A folder to write to, which may not exist yet."""

    shown: Path
    """As the user named it."""
    root: Path
    """An existing folder, resolved, into which no repository has led."""
    below: str
    """The path from there to the folder, with a slash at its end; empty if it is the same."""

    @contextmanager
    def file(self, name: str, *, make: bool = False) -> Iterator[FolderEntry]:
        """Open the folder of a file part by part, as `folders.hold_folder` does.

        Raises BadInput if a part is a symbolic link, OSError.
        """
        try:
            with folders.hold_folder(self.root, self.below + name, make=make) as entry:
                yield entry
        except BadName:
            raise _link_error(self.shown / name) from None


def resolve_folder(path: Path) -> OutputFolder:
    """Return a folder that the user named; raise BadInput if a link of a repository is on the way.

    Raises StorageFailed for a path that leads nowhere.
    """
    try:
        place = _follow_path(path)
        tree = work_tree(str(place))
        above = (place, *place.parents)
        root = Path(tree) if tree else next(path for path in above if path.is_dir())
    except OSError as error:
        raise _write_error(path, error) from error
    below = place.relative_to(root).as_posix()
    return OutputFolder(path, root, "" if below == "." else f"{below}/")


def put_file(file: FolderEntry, data: bytes) -> None:
    """Write a file anew, unless it is as it should be: what had its name is not written to.

    Raises OSError.
    """
    if _has(file, data):
        return
    file.unlink()
    with os.fdopen(file.open(os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as stream:
        stream.write(data)


def write_file(path: Path, data: bytes) -> None:
    """Write a file that the user named, which may be a device or a pipe outside of a work tree.

    Raises BadInput if a link of a repository is on the way, StorageFailed.
    """
    try:
        place = _follow_path(path)
        if place.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not work_tree(str(place.parent)):
            path.write_bytes(data)
            return
        with resolve_folder(path.parent).file(path.name) as file:
            put_file(file, data)
    except (OSError, ValueError) as error:
        raise _write_error(path, error) from error


def _has(file: FolderEntry, data: bytes) -> bool:
    """Tell whether a plain file has this content."""
    try:
        with os.fdopen(file.open(os.O_RDONLY), "rb") as stream:
            stat = os.fstat(stream.fileno())
            is_same = S_ISREG(stat.st_mode) and stat.st_size == len(data)
            return is_same and stream.read(len(data) + 1) == data
    except OSError:
        return False


def _follow_path(path: Path) -> Path:
    """Return where a path leads, which need not exist; raise BadInput for a link of a repository.

    Raises OSError.
    """
    place = Path.cwd().resolve()
    waiting = [*reversed(path.parts)]
    links = 0
    while waiting:
        part = waiting.pop()
        step = place / part  # an absolute part stands alone
        if part == os.pardir:
            place = place.parent
        elif not step.is_symlink():
            place = step
        elif work_tree(str(place)):
            raise _link_error(step)
        elif (links := links + 1) > _MOST_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        else:
            waiting += reversed(step.readlink().parts)
    return place


def _link_error(path: Path) -> BadInput:
    return BadInput(
        f"{path} is behind a symbolic link, which a repository may contain: it is not written",
        "remove the link, or name another place",
    )


def _write_error(path: Path, error: OSError | ValueError) -> StorageFailed:
    reason = getattr(error, "strerror", None) or error
    return StorageFailed(f"{path} can't be written: {reason}", "name another place")
