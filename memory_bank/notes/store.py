"""Read, write, trash and restore the notes of a bank; no other module writes notes."""

import os
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import TYPE_CHECKING

from memory_bank import notes
from memory_bank.errors import BadName, NoteNotFound, StorageFailed, UnreadableNote
from memory_bank.filenames import JOURNAL_PREFIX
from memory_bank.hints import Hint
from memory_bank.layout import Layout
from memory_bank.locks import locked
from memory_bank.notes import files, merge_conflicts, names, trash
from memory_bank.notes.file_scan import Scan, scan
from memory_bank.notes.folders import Entry, held, names_in
from memory_bank.notes.identity import etag
from memory_bank.notes.roots import Root, Roots
from memory_bank.notes.trash import TRASH, Trashed, new_version

if TYPE_CHECKING:
    from memory_bank.notes.journal import Change
    from memory_bank.notes.note import Note

_STALE = 60.0
"""Seconds after which a temporary file is not in use any more."""


class Store:
    """The files of the notes of one bank."""

    def __init__(
        self,
        layout: Layout,
        repaired: Callable[[], None] | None = None,
        placing: Callable[[str], None] = lambda _: None,
        *,
        roots: Roots | None = None,
        allowed: Collection[str] = (),
        allow_secrets: bool = False,
    ) -> None:
        """Use the files of the bank at `layout`, and those that `roots` includes.

        `repaired` is called after an interrupted change was finished, `placing` with each new
        path before a note is written to it. `allowed` has the fingerprints of values that are no
        secrets.
        """
        self._allowed = allowed
        self._allow_secrets = allow_secrets
        self._repaired = repaired
        self._placing = placing
        self.root = layout.root
        self.roots = roots or Roots(Root(layout.root))
        self._trash = layout.trash
        self._mutex = threading.RLock()
        self._held = False

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the bank's lock for one change, after finishing an interrupted one; reentrant."""
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
        """Finish or undo an interrupted change; the caller holds the lock."""
        if self.interrupted():
            notes.journal.recover(self.root, self._trash)
            if self._repaired is not None:
                self._repaired()

    def interrupted(self) -> bool:
        """Tell whether there is an interrupted change."""
        return any(name.startswith(JOURNAL_PREFIX) for name in names_in(self.root, TRASH))

    def read(self, path: str) -> "Note":
        """Read the note at a path; raise NoteNotFound or UnreadableNote."""
        return notes.note_parser.parse(path, self.read_bytes(path))

    def read_bytes(self, path: str) -> bytes:
        """Return the bytes of the file at a path; raise NoteNotFound."""
        data = self.roots.of(path).read(path)
        if data is None:
            raise NoteNotFound(f"there is no note {path!r}", Hint.LIST_NOTES)
        return data

    def exists(self, path: str) -> bool:
        """Tell whether a file has this path, or one that some file systems consider equal."""
        with suppress(FileNotFoundError, NotADirectoryError), held(self.root, path) as file:
            if file.exists():
                return True
        if self.roots.is_included(path) and self.roots.of(path).has(path):
            return True
        places = [""]
        for part in path.split("/"):
            wanted = names.folded(part)
            places = [
                f"{place}/{name}".lstrip("/")
                for place in places
                for name in names_in(self.root, place)
                if names.folded(name) == wanted
            ]
        return bool(places)

    def check_free(self, path: str) -> None:
        """Raise NoteExists if the name of a new note is taken."""
        if self.exists(path):
            raise self.roots.taken(path) or files.taken(path)

    def create(self, path: str, text: str, *, given: str = "") -> str:
        """Write a new note and return its etag; raise NoteExists when the name is taken.

        `given` is the text from the caller. Raises SecretFound.
        """
        with self.writing():
            self.check_new(path, text, given=given)
            data = notes.note_parser.encoded(text)
            self._placing(path)
            with files.opened(self.root, path, "write", make=True) as file:
                files.replace(file, data, files.ABSENT)
        return etag(data)

    def check_new(self, path: str, text: str, *, given: str = "") -> None:
        """Raise the error that `create` would raise for this path and text."""
        names.check_new(path)
        self.check_free(path)
        merge_conflicts.check(path, text)
        self._check_secrets(text, (), given=given, path=path)

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
        unless the file still has that etag. Raises UnreadableNote for a file that isn't UTF-8, or
        an edit that leaves a merge conflict; SecretFound when it, whose text is `given`, adds one;
        NoteReadOnly.
        """
        self.roots.check_writable(path)

        def checked(text: str) -> str:
            new = edit(text)
            merge_conflicts.check(path, new, text)
            if new != text:
                self._check_secrets(new, (text,), given=given)
            return new

        with self.writing():
            data = self.read_bytes(path)
            with files.opened(self.roots.of(path).folder, path, "write") as file:
                if if_match is not None:
                    files.check(file, if_match)
                new = notes.note_parser.edited(data, checked)
                if new != data:
                    files.replace(file, new, etag(data))
        return etag(new)

    def apply(self, changes: "Sequence[Change]", *, given: str = "", keep: str = "") -> None:
        """Make several changes, all or none; the caller is inside `writing`.

        The note at `keep` is copied to the trash first. Raises SecretFound for a secret that is not
        yet in one of the changed notes or their names, NoteReadOnly for an included file.
        """
        for change in changes:
            if change.expected != files.ABSENT:
                self.roots.check_writable(change.path, moving=True)
            with suppress(FileNotFoundError, NotADirectoryError), held(self.root, change.path):
                pass  # raises for a path that leaves the bank
        self._check_conflicts(changes)
        self._check_changes(changes, given)
        for change in changes:
            if change.expected == files.ABSENT:
                self._placing(change.path)
        self._make_trash()
        if keep:
            self.keep(keep)
        notes.journal.apply(self.root, self._trash, changes, new_version())

    def _check_conflicts(self, changes: "Sequence[Change]") -> None:
        """Raise UnreadableNote if a note has a merge conflict: no part of it must go elsewhere."""
        for change in changes:
            old = files.read_in(self.root, change.path)
            for data in (old, change.data):
                merge_conflicts.check(change.path, _text(data or b""))

    def _check_changes(self, changes: "Sequence[Change]", given: str) -> None:
        if self._allow_secrets:
            return
        existing = [change.path for change in changes if change.expected != files.ABSENT]
        data = [files.read_in(self.root, path) or b"" for path in existing]
        before = [*existing, *map(_text, data)]
        for change in changes:
            if change.data is not None:
                name = "" if change.path in existing else change.path
                text = _text(change.data)
                self._check_secrets(text, before, given=given, path=name)

    def _check_secrets(
        self, text: str, before: Sequence[str], *, given: str, path: str = ""
    ) -> None:
        """Raise SecretFound for a text with a secret that is not in `before`."""
        if not self._allow_secrets:
            notes.secret_gate.check(text, before, given=given, path=path, allowed=self._allowed)

    def delete(self, path: str, if_match: str | None = None) -> Trashed:
        """Move a note to the trash; with `if_match`, only if it still has that etag."""
        self.roots.check_writable(path, moving=True)
        with self.writing():
            found = etag(self.read_bytes(path))
            with files.opened(self.root, path, "move") as file:
                files.check(file, found if if_match is None else if_match)
                trashed = Trashed(path, new_version())
                with self._in_trash(trashed) as target:
                    files.move(file, target)
        return trashed

    def keep(self, path: str) -> Trashed:
        """Copy a note to the trash, before it is rewritten."""
        self.roots.check_writable(path, moving=True)
        trashed = Trashed(path, new_version())
        with files.opened(self.root, path, "copy") as source, self._in_trash(trashed) as copy:
            files.copy(source, copy)
        return trashed

    def trashed(self) -> list[Trashed]:
        """List the notes in the trash, the newest first."""
        return trash.trashed(self.root)

    def chosen(self, path: str, version: str = "") -> Trashed:
        """Return a deleted version of the note of a path: see `trash.chosen`."""
        return trash.chosen(self.root, path, version)

    def read_trashed(self, note: Trashed) -> bytes:
        """Return the bytes of a deleted note; empty if it is gone."""
        return files.read_in(self.root, note.place) or b""

    def restore(self, path: str, target: str = "", version: str = "") -> str:
        """Restore a deleted version of a path, to `target` if given; return its path.

        `version` is as in `trash.chosen`, which raises.
        """
        with self.writing():
            found = self.chosen(path, version)
            target = target or found.path
            self.check_free(target)
            self._placing(target)
            with (
                self._in_trash(found) as source,
                files.opened(self.root, target, "move", make=True) as goal,
            ):
                files.move(source, goal)
            self._remove_empty(found.place)
        return target

    def emptied(self, before: datetime | None = None) -> list[Trashed]:
        """List the notes that `empty_trash` deletes."""
        return trash.emptied(self.root, before)

    def empty_trash(self, before: datetime | None = None) -> list[Trashed]:
        """Delete the notes in the trash for good, or those deleted before a time; return them."""
        with self.writing():
            return trash.empty(self.root, before)

    def scan(self) -> Scan:
        """Scan every Markdown file of the bank, except in hidden folders.

        Raises StorageFailed for a folder that can't be read: its notes are not gone.
        """
        return scan(self.root)

    def paths(self) -> set[str]:
        """Return the paths of all files that may be notes, included ones too; errors as `scan`."""
        return {path for root in self.roots.all() for path in root.scan().signatures}

    def sweep(self, paths: Sequence[str]) -> None:
        """Remove temporary files of killed writers, which are older than those in use."""
        limit = time.time() - _STALE
        for path in paths:
            # removed meanwhile, or open: left to the next sweep
            folder = self.roots.of(path).folder
            with suppress(OSError, BadName), held(folder, path) as file:
                if file.stat().st_mtime < limit:
                    file.unlink()

    def _make_trash(self) -> None:
        """Make the trash, with its own `.gitignore`."""
        if self._trash.is_symlink():
            raise StorageFailed(
                f"{self._trash} is a symbolic link", "remove it: a plain folder is made"
            )
        with files.opened(self.root, f"{TRASH}/.gitignore", "make", make=True) as rules:
            if not rules.exists():
                handle = rules.open(os.O_WRONLY | os.O_CREAT | os.O_EXCL)
                with os.fdopen(handle, "wb") as stream:
                    stream.write(b"*\n")

    @contextmanager
    def _in_trash(self, trashed: Trashed) -> Iterator[Entry]:
        """Open the folder of a deleted note in the trash, made if missing."""
        self._make_trash()
        with files.opened(self.root, trashed.place, "move", make=True) as file:
            yield file

    def _remove_empty(self, path: str) -> None:
        """Remove the folders of a path in the trash that are empty."""
        while (path := path.rpartition("/")[0]) != TRASH:
            try:
                with held(self.root, path) as folder:
                    folder.rmdir()
            except (OSError, BadName):
                return  # not empty


def _text(data: bytes) -> str:
    """Decode a file's bytes; a binary file as Latin-1."""
    try:
        return notes.decoding.decode(data).text
    except UnreadableNote:
        return data.decode("latin-1")
