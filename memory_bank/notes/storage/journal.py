"""Change several files atomically, even if the process is killed: a redo journal.

The new contents and a plan are written first; renaming the plan to its final name commits the
change. The next process that takes the bank's lock finishes an interrupted plan.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import AbstractContextManager, suppress
from os import urandom
from pathlib import Path
from stat import S_ISDIR, S_ISREG

from memory_bank.base import NamedTuple, lazy_pattern
from memory_bank.base.errors import BadName, Hint, MemoryBankError, StorageFailed
from memory_bank.base.filenames import JOURNAL_PREFIX, NOTE_SUFFIXES
from memory_bank.notes import names
from memory_bank.notes.identity import hash_bytes
from memory_bank.notes.storage import files
from memory_bank.notes.storage.folders import FolderEntry, hold_folder, names_in, read_stat

_PLAN = "plan.json"

_LEAVING = "leaving-"

_STAMP = lazy_pattern(r"\d{1,40}")


class JournalEntry(NamedTuple):
    """The change of one file: new bytes, or None to remove it."""

    path: str
    data: bytes | None
    expected: str
    """The etag that the file must have; files.ABSENT if it must not exist."""
    trash: bool = False
    """Whether a removed file is moved to the trash."""


class _Step(NamedTuple):
    path: str
    before: str
    after: str
    staged: str
    kept: str
    trash: str
    """Where in the trash the removed file goes; empty if it does not."""


class _JournalFolder(NamedTuple):
    """A journal's folder, with access to its files and to notes of the bank."""

    root: Path
    trash: str
    name: str

    @property
    def folder(self) -> str:
        return f"{self.trash}/{self.name}"

    def open_note(
        self, path: str, verb: str, *, make: bool = False
    ) -> AbstractContextManager[FolderEntry]:
        return files.open_parent(self.root, path, verb, make=make)

    def open_file(
        self, name: str, verb: str, *, make: bool = False
    ) -> AbstractContextManager[FolderEntry]:
        return self.open_note(f"{self.folder}/{name}", verb, make=make)

    def read(self, name: str) -> bytes | None:
        return files.read_in(self.root, f"{self.folder}/{name}")


def apply(root: Path, trash: Path, changes: Sequence[JournalEntry], stamp: str) -> None:
    """Make all changes or none; the caller holds the bank's lock.

    Raises Conflict or NoteExists when a file isn't as expected, StorageFailed when the disk
    refuses; every file is then as it was. After another interruption such as Ctrl-C, the next
    writer finishes the plan.
    """
    _check(root, changes)
    place = _JournalFolder(
        root, trash.relative_to(root).as_posix(), f"{JOURNAL_PREFIX}{urandom(6).hex()}"
    )
    steps: list[_Step] = []
    try:
        with place.open_file(_PLAN, "prepare", make=True):
            pass
        for number, change in enumerate(changes):
            steps.append(_stage(place, change, number, stamp))
        plan = json.dumps([step._asdict() for step in steps])
        with place.open_file(_PLAN, "prepare") as file:
            files.replace(file, plan.encode(), files.ABSENT)
    except MemoryBankError:
        _remove(place)
        raise
    try:
        for step in steps:
            do_step(place, step)
    except MemoryBankError:
        for step in reversed(steps):
            undo_step(place, step)
        _remove_durably(place)
        raise
    _remove_durably(place)


def recover(root: Path, trash: Path) -> list[str]:
    """Finish interrupted plans; return the paths of completed changes.

    A file that was changed since then stays; our version goes to the trash. A plan that is damaged,
    or was not made by this program (a repository may contain one), stays in the trash unapplied.
    """
    completed: list[str] = []
    trash_path = trash.relative_to(root).as_posix()
    for name in sorted(names_in(root, trash_path)):
        if not name.startswith(JOURNAL_PREFIX):
            continue
        place = _JournalFolder(root, trash_path, name)
        try:
            steps = _read_plan(place)
        except (ValueError, TypeError, RecursionError, BadName):
            _set_aside(place)
            continue
        for step in steps:
            completed += _redo_step(place, step)
        _remove_durably(place)
    return completed


def _check(root: Path, changes: Sequence[JournalEntry]) -> None:
    """Raise unless every file is as expected.

    On a case-insensitive file system, a new name may be that of a file that is removed.
    """
    removed = [stat for c in changes if c.data is None and (stat := read_stat(root, c.path))]
    for change in changes:
        stat = read_stat(root, change.path) if change.expected == files.ABSENT else None
        if not (stat and any(os.path.samestat(stat, removed_stat) for removed_stat in removed)):
            files.check_in(root, change.path, change.expected)


def _stage(place: _JournalFolder, change: JournalEntry, number: int, stamp: str) -> _Step:
    staged = kept = ""
    if change.data is not None:
        staged = f"new-{number}"
        with place.open_file(staged, "prepare") as file:
            files.replace(file, change.data, files.ABSENT)
    if change.expected != files.ABSENT:
        kept = f"old-{number}"
        with place.open_note(change.path, "copy") as note, place.open_file(kept, "prepare") as file:
            files.copy(note, file)
    return _Step(
        path=change.path,
        before=change.expected,
        after=files.ABSENT if change.data is None else hash_bytes(change.data),
        staged=staged,
        kept=kept,
        trash=f"{stamp}/{change.path}" if change.trash else "",
    )


def _read_plan(place: _JournalFolder) -> list[_Step]:
    """Return the steps of a plan, none if it was never committed; raise unless it is valid.

    All of its files must be notes inside the bank, and all new contents intact.
    """
    stat = read_stat(place.root, place.folder)
    if stat is None or not S_ISDIR(stat.st_mode):
        raise BadName(f"{place.folder} is not a folder")
    data = place.read(_PLAN)
    steps = [] if data is None else [_Step(**item) for item in json.loads(data)]
    for number, step in enumerate(steps):
        if not all(isinstance(value, str) for value in step):
            raise TypeError(f"{place.folder} has no valid plan")
        _check_inside(place.root, step.path)
        stamp, _, rest = step.trash.partition("/")
        is_known = step.staged in {"", f"new-{number}"} and step.kept in {"", f"old-{number}"}
        is_trash_valid = not step.trash or (_STAMP.fullmatch(stamp) and rest == step.path)
        staged = f"{place.folder}/{step.staged}"
        etag = files.current_in(place.root, staged) if step.staged else files.ABSENT
        if not (is_known and is_trash_valid and etag == step.after):
            raise BadName(f"{place.folder} has no valid plan")
    return steps


def _check_inside(root: Path, path: str) -> None:
    parts = path.split("/")
    hidden = any(part[:1] in {"", "."} or len(part.encode()) > names.MAX_BYTES for part in parts)
    if hidden or "\0" in path or not path.endswith(NOTE_SUFFIXES):
        raise BadName(f"{path!r} is not the path of a note")
    with suppress(FileNotFoundError, NotADirectoryError), hold_folder(root, path) as file:
        if file.exists() and not S_ISREG(file.stat().st_mode):
            raise BadName(f"{path!r} is not a regular file")


def do_step(place: _JournalFolder, step: _Step) -> None:
    """Write, move or remove one file."""
    if step.staged:
        data = place.read(step.staged)
        if data is None:
            raise StorageFailed(
                f"{place.root / place.folder / step.staged} is gone", Hint.TRY_AGAIN
            )
        with place.open_note(step.path, "write", make=True) as target:
            files.replace(target, data, step.before)
        return
    with place.open_note(step.path, "move") as target:
        if step.trash:
            files.check(target, step.before)
            with place.open_note(f"{place.trash}/{step.trash}", "move", make=True) as trashed:
                files.move(target, trashed)
            return
        with place.open_file(f"{_LEAVING}{urandom(4).hex()}", "remove") as aside:
            files.remove(target, aside, step.before)


def _redo_step(place: _JournalFolder, step: _Step) -> list[str]:
    """Make a change that was not made; return the path of its file if it was made."""
    etag = files.current_in(place.root, step.path)
    if etag == step.after:
        return []
    if etag == step.before:
        do_step(place, step)
        return [step.path]
    if step.staged:  # changed meanwhile: keep both versions
        ours = place.read(step.staged)
        trashed = f"{place.trash}/{place.name.lstrip('.')}/{step.path}"
        with place.open_note(trashed, "write", make=True) as file:
            files.replace(file, ours or b"")
    return []


def undo_step(place: _JournalFolder, step: _Step) -> None:
    """Restore a file, if the change had reached it."""
    if step.before == step.after or files.current_in(place.root, step.path) != step.after:
        return
    with place.open_note(step.path, "put back") as target:
        if step.kept:
            with place.open_file(step.kept, "put back") as kept:
                kept.replace(target)  # a rename needs no space on a full disk
        else:
            target.unlink()
        target.sync()


def _remove_durably(place: _JournalFolder) -> None:
    """Remove a journal, its plan first, so that an incomplete one is never applied."""
    with place.open_file(_PLAN, "remove") as plan:
        plan.unlink()
    _remove(place)
    with place.open_note(place.folder, "remove") as folder:
        folder.sync()


def _set_aside(place: _JournalFolder) -> None:
    """Rename a journal that can't be applied, so that it is kept but ignored."""
    with place.open_note(place.folder, "set aside") as folder:
        folder.replace(folder.beside(f"{place.name.lstrip('.')}-{urandom(3).hex()}"))
        folder.sync()


def _remove(place: _JournalFolder) -> None:
    from shutil import rmtree  # start-up: compressors come with it

    with suppress(MemoryBankError), place.open_note(place.folder, "remove") as folder:
        rmtree(folder.name, ignore_errors=True, dir_fd=folder.folder)
