"""The files of a bank: read, write, trash and restore them; nobody else writes a note."""

import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from memory_bank.errors import NoteNotFound, UnreadableNote
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
        *,
        allowed: Collection[str] = (),
        allow_secrets: bool = False,
    ) -> None:
        """Work on the files of the bank at `layout`.

        `healed` is called when a change was finished that a killed writer had left half done,
        `placing` with the path of each note before it comes to a place where none was. `allowed`
        has the fingerprints of values that are no secrets.
        """
        self._allowed = allowed
        self._allow_secrets = allow_secrets
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

    def create(self, path: str, text: str, *, given: str = "") -> str:
        """Write a new note and return its etag; raise NoteExists when the name is taken.

        `given` is what the caller wrote of it. Raises SecretFound.
        """
        from memory_bank.notes import reader

        names.check_new(path)
        file = names.inside(self.root, path)
        with self.writing():
            if self.exists(path):
                raise files.taken(path)
            data = reader.encoded(text)
            self._check_secrets(text, (), given=given, path=path)
            self._placing(path)
            files.replace(file, data, files.ABSENT)
        return etag(data)

    def change(
        self,
        path: str,
        edit: Callable[[str], str],
        if_match: str | None = None,
        *,
        given: str = "",
    ) -> str:
        """Rewrite a note's text under the lock and return its new etag.

        `edit` gets the current text without its byte order mark. With `if_match`, raises Conflict
        unless the file still has that etag. Raises UnreadableNote for a file that isn't UTF-8,
        SecretFound when the edit, whose text is `given`, adds one.
        """
        from memory_bank.notes import reader

        def checked(text: str) -> str:
            new = edit(text)
            if new != text:
                self._check_secrets(new, (text,), given=given)
            return new

        file = names.inside(self.root, path)
        with self.writing():
            data = self.read_bytes(path)
            if if_match is not None:
                files.check(file, if_match)
            new = reader.edited(data, checked)
            if new != data:
                files.replace(file, new, etag(data))
        return etag(new)

    def apply(self, changes: "Sequence[Change]", *, given: str = "", keep: str = "") -> None:
        """Make several changes, all or none; the caller is inside `writing`.

        The note at `keep` is copied to the trash before. Raises SecretFound for a secret that is
        in none of the changed notes yet, nor in one of their names.
        """
        from memory_bank.notes import journal

        for change in changes:
            names.inside(self.root, change.path)
        self._check_changes(changes, given)
        for change in changes:
            if change.expected == files.ABSENT:
                self._placing(change.path)
        private_folder(self._trash)
        if keep:
            self.keep(keep)
        journal.apply(self.root, self._trash, changes, _stamp())

    def _check_changes(self, changes: "Sequence[Change]", given: str) -> None:
        if self._allow_secrets:
            return
        there = [change.path for change in changes if change.expected != files.ABSENT]
        data = [files.read(names.inside(self.root, path)) or b"" for path in there]
        before = [*there, *map(_text, data)]
        for change in changes:
            if change.data is not None:
                name = "" if change.path in there else change.path
                text = _text(change.data)
                self._check_secrets(text, before, given=given, path=name)

    def _check_secrets(
        self, text: str, before: Sequence[str], *, given: str, path: str = ""
    ) -> None:
        """Raise SecretFound for a text that adds one to what was there before."""
        if not self._allow_secrets:
            from memory_bank.notes import secret_gate  # start-up: readers write nothing

            secret_gate.check(text, before, given=given, path=path, allowed=self._allowed)

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


def _text(data: bytes) -> str:
    """Return what a file's bytes say, also of one that holds no text at all."""
    from memory_bank.notes.decoding import decode  # start-up: a writer's

    try:
        return decode(data).text
    except UnreadableNote:
        return data.decode("latin-1")


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
