"""The files of a bank: read, write, trash and restore them; nobody else writes a note."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from memory_bank.errors import NoteNotFound
from memory_bank.filenames import JOURNAL_PREFIX, NOTE_SUFFIXES
from memory_bank.layout import Layout, private_folder
from memory_bank.locks import locked
from memory_bank.notes import files, names
from memory_bank.notes.identity import etag
from memory_bank.notes.scan import Scan, scan

if TYPE_CHECKING:
    from memory_bank.notes.journal import Change
    from memory_bank.notes.note import Note

_STALE = 60.0
"""Seconds after which a temporary file is no writer's any more."""


class Trashed(NamedTuple):
    """A deleted note: where it was, and when it was deleted."""

    path: str
    stamp: str


class Store:
    """The notes of one bank as files."""

    def __init__(
        self,
        layout: Layout,
        healed: Callable[[], None] | None = None,
        placing: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Work on the files of the bank at `layout`.

        `healed` is called when a change was finished that a killed writer had left half done,
        `placing` with the path of each note before it comes to a place where none was.
        """
        self._healed = healed
        self._placing = placing
        self.root = layout.root
        self._trash = layout.trash
        self._mutex = threading.RLock()
        self._held = False

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the bank's lock for one change; a change that a kill cut short is finished first.

        A thread that holds it may ask for it again.
        """
        with self._mutex:
            if self._held:
                yield
                return
            with locked(self.root):
                self._held = True
                try:
                    self._recover()
                    yield
                finally:
                    self._held = False

    def _recover(self) -> None:
        """Finish or undo what a killed writer left; the caller holds the lock."""
        if self.interrupted():
            from memory_bank.notes import journal  # start-up: readers change nothing

            journal.recover(self.root, self._trash)
            if self._healed is not None:
                self._healed()

    def interrupted(self) -> bool:
        """Tell whether a killed writer left a change to finish."""
        return (
            self._trash.is_dir()
            and not self._trash.is_symlink()
            and any(self._trash.glob(f"{JOURNAL_PREFIX}*"))
        )

    def read(self, path: str) -> "Note":
        """Read the note at a path; raise NoteNotFound or UnreadableNote."""
        from memory_bank.notes import reader

        return reader.parse(path, self.read_bytes(path))

    def read_bytes(self, path: str) -> bytes:
        """Return the bytes of the file at a path; raise NoteNotFound."""
        data = files.read(names.inside(self.root, path))
        if data is None:
            raise NoteNotFound(f"there is no note {path!r}", "list notes with `memory-bank notes`")
        return data

    def exists(self, path: str) -> bool:
        """Tell whether a file has this path, or one that some file systems take for the same."""
        if names.inside(self.root, path).exists():
            return True
        places = [self.root]
        for part in path.split("/"):
            wanted = names.folded(part)
            places = [
                found
                for place in places
                if place.is_dir()
                for found in place.iterdir()
                if names.folded(found.name) == wanted
            ]
        return bool(places)

    def create(self, path: str, text: str) -> str:
        """Write a new note and return its etag; raise NoteExists when the name is taken."""
        from memory_bank.notes import reader

        names.check_new(path)
        file = names.inside(self.root, path)
        with self.writing():
            if self.exists(path):
                raise files.taken(path)
            data = reader.encoded(text)
            self._placing(path)
            files.replace(file, data, files.ABSENT)
        return etag(data)

    def change(self, path: str, edit: Callable[[str], str], if_match: str | None = None) -> str:
        """Rewrite a note's text under the lock and return its new etag.

        `edit` gets the current text without its byte order mark. With `if_match`, raises Conflict
        unless the file still has that etag. Raises UnreadableNote for a file that isn't UTF-8.
        """
        from memory_bank.notes import reader

        file = names.inside(self.root, path)
        with self.writing():
            data = self.read_bytes(path)
            if if_match is not None:
                files.check(file, if_match)
            new = reader.edited(data, edit)
            if new != data:
                files.replace(file, new, etag(data))
        return etag(new)

    def apply(self, changes: "Sequence[Change]") -> None:
        """Make several changes, all or none; the caller is inside `writing`."""
        from memory_bank.notes import journal

        for change in changes:
            names.inside(self.root, change.path)
            if change.expected == files.ABSENT:
                self._placing(change.path)
        private_folder(self._trash)
        journal.apply(self.root, self._trash, changes, _stamp())

    def delete(self, path: str, if_match: str | None = None) -> Trashed:
        """Move a note to the trash; with `if_match`, only if it still has that etag."""
        file = names.inside(self.root, path)
        with self.writing():
            found = etag(self.read_bytes(path))
            files.check(file, found if if_match is None else if_match)
            private_folder(self._trash)
            trashed = Trashed(path, _stamp())
            files.move(file, self._trash / trashed.stamp / path)
        return trashed

    def keep(self, path: str) -> Trashed:
        """Put a copy of a note into the trash, before it is rewritten beyond recognition."""
        source = names.inside(self.root, path)
        private_folder(self._trash)
        trashed = Trashed(path, _stamp())
        copy = self._trash / trashed.stamp / path
        try:
            files.make_folder(copy.parent)
            from shutil import copy2  # start-up: readers copy nothing

            copy2(source, copy)
        except OSError as error:
            raise files.failed("copy", source, error) from error
        return trashed

    def trashed(self) -> list[Trashed]:
        """List the notes in the trash, the newest first."""
        found = [
            Trashed(file.relative_to(folder).as_posix(), folder.name)
            for folder in (self._trash.iterdir() if self._trash.is_dir() else ())
            if folder.is_dir() and not folder.is_symlink() and not folder.name.startswith(".")
            for file in folder.rglob("*")
            if file.suffix in NOTE_SUFFIXES and file.is_file() and not file.is_symlink()
        ]
        return sorted(found, key=lambda note: (note.stamp, note.path), reverse=True)

    def restore(self, path: str, target: str = "") -> str:
        """Bring back the newest deleted note of a path, to `target` if given; return its path."""
        wanted = names.key(path)
        with self.writing():
            found = next((t for t in self.trashed() if names.key(t.path) == wanted), None)
            if found is None:
                raise NoteNotFound(
                    f"there is no {path!r} in the trash", "see `memory-bank restore`"
                )
            target = target or found.path
            if self.exists(target):
                raise files.taken(target)
            source = names.inside(self._trash, f"{found.stamp}/{found.path}")
            goal = names.inside(self.root, target)
            self._placing(target)
            files.move(source, goal)
            _remove_empty(source.parent, self._trash)
        return target

    def scan(self) -> Scan:
        """Look at every Markdown file of the bank, hidden folders left out.

        Raises StorageFailed for a folder that can't be read: its notes are not gone.
        """
        return scan(self.root)

    def sweep(self, paths: Sequence[str]) -> None:
        """Remove temporary files that killed writers left; those of a living one are young."""
        limit = time.time() - _STALE
        for path in paths:
            with suppress(OSError):  # gone meanwhile, or held open: the next sweep's
                file = self.root / path
                if file.lstat().st_mtime < limit:
                    file.unlink()


def _stamp() -> str:
    """Return a name for a moment that sorts by time and is never given twice."""
    return datetime.now(UTC).strftime("%Y%m%d%H%M%S%f")


def _remove_empty(folder: Path, above: Path) -> None:
    while folder != above:
        try:
            folder.rmdir()
        except OSError:
            return  # others of the same moment are still there
        folder = folder.parent
