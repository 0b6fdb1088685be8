"""Notes of sessions in the private state of this machine, which all work trees share."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

from memory_bank.errors import StorageFailed
from memory_bank.filenames import NOTE_SUFFIXES
from memory_bank.notes import file_scan, files, folders
from memory_bank.notes.roots import SESSIONS, Root, Watched
from memory_bank.source import Scan

_FOLDER = SESSIONS.rstrip("/")


class PrivateRoot(Root):
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
        found = file_scan.Scan()
        reason = file_scan.scan_part(self.folder, _FOLDER, found)
        self.leftover = found.leftover
        if reason and reason != file_scan.MISSING:
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
