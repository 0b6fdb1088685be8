"""Read, write, trash and restore the notes of a bank; no other module writes notes."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime
from pathlib import Path

from memory_bank.base.errors import (
    BadName,
    Hint,
    MemoryBankError,
    NoteNotFound,
    StorageFailed,
    UnreadableNote,
)
from memory_bank.base.filenames import JOURNAL_PREFIX
from memory_bank.base.locks import hold_lock
from memory_bank.base.paths import Layout
from memory_bank.notes import names, okf
from memory_bank.notes.identity import hash_bytes
from memory_bank.notes.merging import conflicts
from memory_bank.notes.note import Note
from memory_bank.notes.roots import SESSIONS, NoteRoot, Roots
from memory_bank.notes.storage import files, trash_folder
from memory_bank.notes.storage.files import FileScan, scan
from memory_bank.notes.storage.folders import FolderEntry, hold_folder, names_in
from memory_bank.notes.storage.journal import JournalEntry
from memory_bank.notes.storage.trash_folder import TRASH, Trashed, new_version


class WriteLock:
    """The locks of a bank's folder and of its private folder, for the threads of one process."""

    def __init__(self, roots: Roots, repaired: Callable[[], None] | None) -> None:
        """Lock the folders of `roots`; `repaired` is called after each recovery."""
        self.roots = roots
        self._repaired = repaired
        self._mutex = threading.RLock()
        self._held: ExitStack | None = None
        self._private_held = False

    @contextmanager
    def writing(self, path: str = "") -> Iterator[None]:
        """Hold the bank's lock for one change, after finishing an interrupted one; reentrant.

        For a note at `path` in the private state, also hold the lock of that folder, which the
        repository's other work trees share.
        """
        with self._mutex:
            if self._held is not None:
                self._hold(path)
                yield
                return
            with hold_lock(self.roots.bank.folder), ExitStack() as other_locks:
                self._held = other_locks
                try:
                    self._recover(self.roots.bank)
                    if self.roots.private is not None and self._interrupted(self.roots.private):
                        self.enter(self.roots.private)
                    self._hold(path)
                    yield
                finally:
                    self._held, self._private_held = None, False

    def _hold(self, path: str) -> None:
        if path and self.roots.is_private(path):
            self.enter(self.roots.home(path))

    def enter(self, root: NoteRoot) -> None:
        """Take the lock of the private folder, if it is that; the caller holds the bank's lock."""
        if root is not self.roots.private or self._private_held or self._held is None:
            return
        self.roots.private.make()
        self._held.enter_context(hold_lock(root.folder, make=self.roots.private.make))
        self._private_held = True
        self._recover(root)

    def _recover(self, root: NoteRoot) -> None:
        """Finish or undo an interrupted change; the caller holds the lock."""
        from memory_bank.notes.storage import journal

        if self._interrupted(root):
            journal.recover(root.folder, root.folder / TRASH)
            if self._repaired is not None:
                self._repaired()

    def _interrupted(self, root: NoteRoot) -> bool:
        return any(name.startswith(JOURNAL_PREFIX) for name in names_in(root.folder, TRASH))

    def interrupted(self) -> bool:
        """Return whether there is an interrupted change."""
        return any(map(self._interrupted, self.roots.written()))


_STALE = 60.0
"""Seconds after which a temporary file is not in use any more."""


class Store(WriteLock):
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
        super().__init__(roots or Roots(NoteRoot(layout.root)), repaired)
        self._allowed = allowed
        self._allow_secrets = allow_secrets
        self._placing = placing
        self.root = layout.root

    def read(self, path: str) -> Note:
        """Read the note at a path; raise NoteNotFound or UnreadableNote."""
        from memory_bank.notes import parsing

        return parsing.parse(path, self.read_bytes(path))

    def read_bytes(self, path: str) -> bytes:
        """Return the bytes of the file at a path; raise NoteNotFound."""
        data = self.roots.of(path).read(path)
        if data is None:
            raise NoteNotFound(f"there is no note {path!r}", Hint.LIST_NOTES)
        return data

    def exists(self, path: str) -> bool:
        """Return whether a file has this path, or one that some file systems consider equal."""
        with suppress(FileNotFoundError, NotADirectoryError), hold_folder(self.root, path) as file:
            if file.exists():
                return True
        if self.roots.is_included(path) and self.roots.of(path).has(path):
            return True
        folders = [self.root]
        if self.roots.private is not None and names.fold_path(path).startswith(SESSIONS):
            folders.append(self.roots.private.folder)
        return any(_has_alike(folder, path) for folder in folders)

    def check_free(self, path: str) -> None:
        """Raise NoteExists if a new note's name is taken, BadName for that of a bundle's list."""
        if path.rpartition("/")[2] in okf.RESERVED and self.roots.bundle(path) is not None:
            raise BadName(f"{path} is no name of a note in a bundle", Hint.CHOOSE_FREE_NAME)
        if self.exists(path):
            raise self.roots.taken(path) or files.taken_error(path)

    def create(
        self, path: str, text: str, *, caller_text: str = "", relinked: Sequence[JournalEntry] = ()
    ) -> str:
        """Write a new note and return its etag; raise NoteExists when the name is taken.

        `relinked` are changes of other notes that are made together with it. Raises SecretFound for
        a secret, whose line is counted in `caller_text`.
        """
        from memory_bank.notes import parsing

        names.check_new(path)
        with self.writing(path):
            self.check_new(path, text, caller_text=caller_text)
            data = parsing.encode_text(text)
            if relinked:
                self.apply(
                    [JournalEntry(path, data, files.ABSENT), *relinked], caller_text=caller_text
                )
                return hash_bytes(data)
            root = self.roots.home(path)
            self._place(root, path)
            with files.open_parent(root.folder, path, "write", make=True) as file:
                files.replace(file, data, files.ABSENT)
        return hash_bytes(data)

    def _place(self, root: NoteRoot, path: str) -> None:
        if root is self.roots.bank:
            self._placing(path)

    def check_new(self, path: str, text: str, *, caller_text: str = "") -> None:
        """Raise the error that `create` would raise for this path and text."""
        names.check_new(path)
        self.check_free(path)
        conflicts.check(path, text)
        self._check_secrets(text, (), caller_text=caller_text, path=path)

    def change(
        self,
        path: str,
        edit: Callable[[str], str],
        if_match: str | None = None,
        *,
        caller_text: str = "",
        relinked: Callable[[], Sequence[JournalEntry]] = tuple,
    ) -> str:
        """Rewrite a note's text under the lock and return its new etag.

        `edit` gets the current text without its byte order mark; after it, `relinked` returns the
        changes of other notes that are made together with it. With `if_match`, raises Conflict
        unless the file still has that etag. Raises UnreadableNote for a file that isn't UTF-8, or
        an edit that leaves a merge conflict; SecretFound when it adds a secret, whose line is
        counted in `caller_text`; NoteReadOnly.
        """
        from memory_bank.notes import parsing

        self.roots.check_writable(path)

        def checked(text: str) -> str:
            new = edit(text)
            conflicts.check(path, new, text)
            if new != text:
                self._check_secrets(new, (text,), caller_text=caller_text)
            return new

        with self.writing(path):
            data = self.read_bytes(path)
            with files.open_parent(self.roots.of(path).folder, path, "write") as file:
                if if_match is not None:
                    files.check(file, if_match)
                new = parsing.edit_bytes(data, checked)
                changes = relinked()
                if new != data and not changes:
                    files.replace(file, new, hash_bytes(data))
            if changes:
                self.apply(
                    [JournalEntry(path, new, hash_bytes(data)), *changes], caller_text=caller_text
                )
        return hash_bytes(new)

    def apply(
        self,
        changes: Sequence[JournalEntry],
        *,
        caller_text: str = "",
        keep: str = "",
        beside: str = "",
    ) -> tuple[str, ...]:
        """Make several changes, all or none; the caller is inside `writing`.

        New notes go into the root of the note `beside`. Changes of notes in the other root are made
        last; those that fail are returned by path. The note at `keep` is copied to the trash first.
        Raises SecretFound for a secret that is not yet in one of the changed notes or their names,
        NoteReadOnly for an included file.
        """
        new_root = self.roots.home(beside) if beside else None
        by_root: dict[NoteRoot, list[JournalEntry]] = {}
        for change in changes:
            is_new = change.expected == files.ABSENT
            root = new_root if is_new and new_root else self.roots.home(change.path)
            if not is_new:
                self.roots.check_writable(change.path)
            with (
                suppress(FileNotFoundError, NotADirectoryError),
                hold_folder(root.folder, change.path),
            ):
                pass  # raises for a path that leaves the bank
            by_root.setdefault(root, []).append(change)
        self._check_changes(changes, caller_text)
        if keep:
            self.keep(keep)
        failed: list[str] = []
        for number, (root, entries) in enumerate(by_root.items()):
            try:
                self._apply(root, entries)
            except MemoryBankError:
                if not number:
                    raise
                failed += [change.path for change in entries]
        return tuple(failed)

    def _apply(self, root: NoteRoot, changes: Sequence[JournalEntry]) -> None:
        from memory_bank.notes.storage import journal

        self.enter(root)
        for change in changes:
            if change.expected == files.ABSENT:
                self._place(root, change.path)
        self._make_trash(root)
        journal.apply(root.folder, root.folder / TRASH, changes, new_version())

    def _bytes(self, path: str) -> bytes:
        return files.read_in(self.roots.home(path).folder, path) or b""

    def _check_changes(self, changes: Sequence[JournalEntry], caller_text: str) -> None:
        """Raise UnreadableNote for a merge conflict, SecretFound for a new secret."""
        for change in changes:  # no part of a note with a conflict must go elsewhere
            for data in (self._bytes(change.path), change.data or b""):
                conflicts.check(change.path, _text(data))
        if self._allow_secrets:
            return
        existing = [change.path for change in changes if change.expected != files.ABSENT]
        before = [*existing, *(_text(self._bytes(path)) for path in existing)]
        for change in changes:
            if change.data is not None:
                name = "" if change.path in existing else change.path
                text = _text(change.data)
                self._check_secrets(text, before, caller_text=caller_text, path=name)

    def _check_secrets(
        self, text: str, before: Sequence[str], *, caller_text: str, path: str = ""
    ) -> None:
        """Raise SecretFound for a text with a secret that is not in `before`."""
        from memory_bank.notes.secrets import secrets

        if not self._allow_secrets:
            secrets.check(text, before, caller_text=caller_text, path=path, allowed=self._allowed)

    def delete(self, path: str, if_match: str | None = None) -> Trashed:
        """Move a note to the trash; with `if_match`, only if it still has that etag."""
        self.roots.check_writable(path)
        with self.writing(path):
            etag, root = hash_bytes(self.read_bytes(path)), self.roots.home(path)
            with files.open_parent(root.folder, path, "move") as file:
                files.check(file, etag if if_match is None else if_match)
                trashed = Trashed(path, new_version())
                with self._in_trash(root, trashed) as target:
                    files.move(file, target)
        return trashed

    def keep(self, path: str) -> Trashed:
        """Copy a note to the trash, before it is rewritten."""
        self.roots.check_writable(path)
        trashed, root = Trashed(path, new_version()), self.roots.home(path)
        with (
            self.writing(path),
            files.open_parent(root.folder, path, "copy") as source,
            self._in_trash(root, trashed) as copy,
        ):
            files.copy(source, copy)
        return trashed

    def list_trashed(self) -> list[Trashed]:
        """List the notes in the trash, the newest first."""
        return trash_folder.list_trashed([root.folder for root in self.roots.written()])

    def choose_trashed(self, path: str, version: str = "") -> Trashed:
        """Return a deleted version of the note of a path: see `trash_folder.choose_version`."""
        return trash_folder.choose_version(self.list_trashed(), path, version)

    def read_trashed(self, note: Trashed) -> bytes:
        """Return the bytes of a deleted note; empty if it is gone."""
        return files.read_in(self._root_of(note).folder, note.place) or b""

    def _root_of(self, note: Trashed) -> NoteRoot:
        """Return the root with a deleted note; the bank's if none has it."""
        roots = self.roots.written()
        return next((root for root in roots if root.has(note.place)), self.roots.bank)

    def restore(self, path: str, target: str = "", version: str = "") -> str:
        """Restore a deleted version of a path, to `target` if given; return its path.

        `version` is as in `trash_folder.choose_version`, which raises.
        """
        with self.writing():
            trashed = self.choose_trashed(path, version)
            root, target = self._root_of(trashed), target or trashed.path
            self.roots.check_move(trashed.path, target, root=root)
            self.enter(root)
            self.check_free(target)
            self._place(root, target)
            with (
                self._in_trash(root, trashed) as source,
                files.open_parent(root.folder, target, "move", make=True) as goal,
            ):
                files.move(source, goal)
            _remove_empty(root.folder, trashed.place)
        return target

    def list_emptied(self, before: datetime | None = None) -> list[Trashed]:
        """List the notes that `empty_trash` deletes."""
        return trash_folder.list_emptied([root.folder for root in self.roots.written()], before)

    def empty_trash(self, before: datetime | None = None) -> list[Trashed]:
        """Delete the notes in the trash for good, or those deleted before a time; return them."""
        with self.writing():
            gone = self.list_emptied(before)
            for root, version in {(self._root_of(note), note.version) for note in gone}:
                self.enter(root)
                trash_folder.remove_version(root.folder, version)
            return gone

    def scan(self) -> FileScan:
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
            with suppress(OSError, BadName), hold_folder(folder, path) as file:
                if file.stat().st_mtime < limit:
                    file.unlink()

    def _make_trash(self, root: NoteRoot) -> None:
        """Make the trash, with its own `.gitignore`."""
        if (root.folder / TRASH).is_symlink():
            raise StorageFailed(
                f"{root.folder / TRASH} is a symbolic link", "remove it: a plain folder is made"
            )
        with files.open_parent(root.folder, f"{TRASH}/.gitignore", "make", make=True) as rules:
            if not rules.exists():
                handle = rules.open(os.O_WRONLY | os.O_CREAT | os.O_EXCL)
                with os.fdopen(handle, "wb") as stream:
                    stream.write(b"*\n")

    @contextmanager
    def _in_trash(self, root: NoteRoot, trashed: Trashed) -> Iterator[FolderEntry]:
        """Open the folder of a deleted note in the trash of a root, made if missing."""
        self._make_trash(root)
        with files.open_parent(root.folder, trashed.place, "move", make=True) as file:
            yield file


def _has_alike(root: Path, path: str) -> bool:
    """Return whether a folder has a file of a path that some file systems consider equal."""
    places = [""]
    for part in path.split("/"):
        folded = names.fold_path(part)
        places = [
            f"{place}/{name}".lstrip("/")
            for place in places
            for name in names_in(root, place)
            if names.fold_path(name) == folded
        ]
    return bool(places)


def _remove_empty(root: Path, path: str) -> None:
    """Remove the folders of a path in the trash that are empty."""
    while (path := path.rpartition("/")[0]) != TRASH:
        try:
            with hold_folder(root, path) as folder:
                folder.rmdir()
        except (OSError, BadName):
            return  # not empty


def _text(data: bytes) -> str:
    """Decode a file's bytes; a binary file as Latin-1."""
    from memory_bank.notes import characters

    try:
        return characters.decode(data).text
    except UnreadableNote:
        return data.decode("latin-1")
