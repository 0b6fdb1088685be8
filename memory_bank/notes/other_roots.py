"""Notes outside of a bank's folder: included files, and private notes of sessions."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from stat import S_ISDIR
from typing import TypeVar

from memory_bank.base.documents import Scan
from memory_bank.base.errors import StorageFailed
from memory_bank.base.filenames import NOTE_SUFFIXES, StatSignature, signature_of, trusted
from memory_bank.base.inotify import InotifyQueue
from memory_bank.notes import files, folders
from memory_bank.notes.characters import nfc
from memory_bank.notes.roots import SESSIONS, FileHistory, NoteRoot, Watched

Value = TypeVar("Value")

Known = Callable[[Sequence[str]], "Collection[str] | None"]
"""Returns the files at or below some paths that git does not ignore; None if it can't say.

Their names are NFC, with `?` for what is not UTF-8."""

_MOST_LOOKED_AT = 100
"""Number of changed files above which all are scanned, with one call of git."""

_NO_FILE = "git knows no file of it: it is ignored, empty, or part of another repository"

_UNKNOWN = "git can't say which of its files are ignored: try `git status` there"


class IncludedRoot(NoteRoot):
    """Included files and folders. The keys of their notes are their paths below the project."""

    def __init__(
        self,
        project: Path,
        paths: Iterable[str],
        *,
        bank: str,
        origin: str = "the settings",
        known: Known | None = None,
        history: FileHistory | None = None,
        writable: Sequence[Path] = (),
        optional: bool = False,
    ) -> None:
        """Include normalised `paths` of `project`, a resolved folder, except in its folder `bank`.

        If `known` is None, git ignores none. `origin` says where they are set. Notes at or below
        the absolute paths `writable` may be changed. A missing path is no fault if `optional`.
        """
        super().__init__(project, history=history)
        self.origin = origin
        self._paths = tuple(dict.fromkeys(path for path in paths if not _below(path, bank)))
        self._known = known
        self._writable = tuple(writable)
        self._optional = optional
        self._queues: dict[str, InotifyQueue | None] = {}
        """By folder; None if the watch is unavailable."""
        self._seen: dict[str, StatSignature | None] = {}
        """Signatures of single files at the last call of `changes`."""

    def owns(self, key: str) -> bool:
        """Tell whether a path is included."""
        return any(_below(key, path) for path in self._paths)

    def writable(self, key: str) -> bool:
        """Tell whether the user lets tools change a note."""
        file = self.folder / key
        return any(file.is_relative_to(place) for place in self._writable)

    def scan(self) -> Scan:
        """Return the signatures of all included notes, and why others can't be included.

        Raises StorageFailed for a folder that can't be read: its notes are not gone.
        """
        known = None
        if self._known is not None and (known := self._known(self._paths)) is None:
            return Scan(refused=dict.fromkeys(self._paths, _UNKNOWN))
        above = None if known is None else _folders(known)
        found, refused = files.FileScan(), dict[str, str]()
        for path in self._paths:
            reason = files.scan_part(self.folder, path, found, above)
            if reason == files.MISSING and self._optional:
                continue
            if not (reason or known is None or any(_below(one, nfc(path)) for one in known)):
                reason = _NO_FILE
            if reason:
                refused[path] = reason
        self.leftover = [path for path in found.leftover if self.writable(path)]
        refused |= _only(found.refused, known)
        return Scan(self._signatures(_only(found.files, known)), refused)

    def look(self, keys: Collection[str]) -> Scan | None:
        """Return the signatures of some notes; None if a file exists but can't be a note."""
        if len(keys) > _MOST_LOOKED_AT:
            return None
        found = super().look(keys)
        if found is None or not found.signatures or self._known is None:
            return found
        known = self._known(list(found.signatures))
        return None if known is None else Scan(_only(found.signatures, known))

    def changes(self) -> frozenset[str] | None:
        """Return the notes that may have changed since the last call; None if any may have.

        Watching starts at the second call, since a process with one query needs none.
        """
        if not self._called:
            self._called = True
            return None
        changed = [self._changes_of(path) for path in self._paths]
        known = [some for some in changed if some is not None]
        return frozenset[str]().union(*known) if len(known) == len(changed) else None

    def watched(self) -> list[Watched]:
        """Return the folders whose changes may change notes, or make a missing one."""
        return list(dict.fromkeys(self._watched_for(path) for path in self._paths))

    def close(self) -> None:
        """Stop watching, and close all files."""
        for queue in self._queues.values():
            if queue is not None:
                queue.close()
        self._queues.clear()
        self._seen.clear()
        super().close()

    def _changes_of(self, path: str) -> Collection[str] | None:
        stat = self._stat(path)
        if stat is not None and S_ISDIR(stat.st_mode):
            return self._changes_in(path)
        if (queue := self._queues.pop(path, None)) is not None:
            queue.close()
        now = signature_of(stat) if stat else None
        unseen, before = path not in self._seen, self._seen.get(path)
        self._seen[path] = now
        if unseen or (now is None) != (before is None):
            return None
        same = now == before and (now is None or trusted(now))
        return () if same else (path,)

    def _changes_in(self, path: str) -> Collection[str] | None:
        self._seen.pop(path, None)
        queue = self._queues.get(path)
        reported = queue.read() if queue is not None else None
        if reported is None:
            if queue is not None:
                queue.close()
            if queue is not None or path not in self._queues:
                self._queues[path] = InotifyQueue.at(self.folder / path)
            return None
        return reported if path == "." else [f"{path}/{name}" for name in reported]

    def _watched_for(self, path: str) -> Watched:
        stat = self._stat(path)
        if stat is not None and S_ISDIR(stat.st_mode):
            return Watched(self.folder / path)
        while (path := posixpath.dirname(path)) and self._stat(path) is None:
            pass
        return Watched(self.folder / path, recursive=False)

    def _stat(self, path: str) -> os.stat_result | None:
        try:
            return self.folder.lstat() if path == "." else folders.stat_of(self.folder, path)
        except OSError:
            return None  # the scan says why


def _below(path: str, folder: str) -> bool:
    """Tell whether a path is that of a folder or below it."""
    return folder in {".", path} or path.startswith(f"{folder}/")


def _folders(files: Iterable[str]) -> set[str]:
    """Return the folders that hold Markdown files, with all above them, each with a slash."""
    found: set[str] = set()
    for file in files:
        above = posixpath.dirname(file) if file.endswith(NOTE_SUFFIXES) else ""
        while above and f"{above}/" not in found:
            found.add(f"{above}/")
            above = posixpath.dirname(above)
    return found


def _only(found: Mapping[str, Value], known: Collection[str] | None) -> dict[str, Value]:
    """Return those files that are in `known`."""
    if known is None:
        return dict(found)
    return {path: value for path, value in found.items() if nfc(path.rstrip("/")) in known}


_FOLDER = SESSIONS.rstrip("/")


class PrivateRoot(NoteRoot):
    """A folder of sessions' notes outside of the bank. Their keys start with `sessions/`.

    The folder may be missing, and its place may change: it has the bank's id, and a repository gets
    another one with its first commit.
    """

    def __init__(
        self, find: Callable[[], Path], bank: Path, shared: Callable[[], bool] = lambda: False
    ) -> None:
        """Read the notes in the folder that `find` returns.

        New notes belong there, unless the project is `shared` with its sessions' notes, or only the
        folder `bank` has any so far.
        """
        super().__init__(Path())
        self._find = find
        self._bank = bank
        self._shared = shared
        self._found: Path | None = None
        self._there: Path | None = None
        """The folder at the last call of `changes`, if it existed."""

    @property
    def folder(self) -> Path:
        """The folder, which may not exist; those above it are resolved."""
        if self._found is None:
            place = self._find()
            self._found = place.parent.resolve() / place.name
        return self._found

    def make(self) -> None:
        """Make the folder for this user only; raise StorageFailed if that can't be done."""
        try:
            for folder in (self.folder.parent, self.folder):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise files.failed("make", self.folder, error) from error
        if self.folder.is_symlink():
            raise StorageFailed(
                f"{self.folder} is a symbolic link", "remove it: a plain folder is made"
            )

    def takes_new(self) -> bool:
        """Tell whether new notes of sessions belong here."""
        if self._shared():
            return False
        return _has_notes(self.folder) or not _has_notes(self._bank)

    def scan(self) -> Scan:
        """Return the signatures of all notes; none if the folder is missing.

        Raises StorageFailed for a folder that can't be read: its notes are not gone.
        """
        self._found = None
        found = files.FileScan()
        reason = files.scan_part(self.folder, _FOLDER, found)
        self.leftover = found.leftover
        if reason and reason != files.MISSING:
            found.refused[SESSIONS] = reason
        return Scan(self._signatures(found.files), found.refused)

    def look(self, keys: Collection[str]) -> Scan | None:
        """Return the signatures of some notes; None if a file exists but can't be a note."""
        return super().look([key for key in keys if key.startswith(SESSIONS)])

    def changes(self) -> frozenset[str] | None:
        """Return the notes that inotify reports as changed since the last call; None if unknown.

        A missing folder has no changes until it is made.
        """
        self._found = None
        there = self.folder if self.folder.is_dir() else None
        if self._called and there == self._there:
            return frozenset() if there is None else super().changes()
        watching = self._called and there is not None
        super().close()
        self._called, self._there = True, there
        if watching:
            self._watch()
        return None

    def watched(self) -> list[Watched]:
        """Return the folder to watch; while it is missing, the one in which it would be made."""
        folder = self.folder
        if folder.is_dir():
            return [Watched(folder)]
        return [Watched(next(one for one in folder.parents if one.is_dir()), recursive=False)]


def _has_notes(root: Path) -> bool:
    """Tell whether a folder has notes of sessions."""
    try:
        return any(name.endswith(NOTE_SUFFIXES) for name in folders.files_in(root, _FOLDER))
    except OSError:
        return True  # it can't be read: scanning it says why
