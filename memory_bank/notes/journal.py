"""Changes of several files that happen all or not at all, even when the process is killed.

The new contents and a plan are laid down first; writing the plan's name is the point of no
return. Whoever takes the bank's lock next finishes a plan that was left behind.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from memory_bank.errors import BadName, MemoryBankError, StorageFailed
from memory_bank.filenames import JOURNAL_PREFIX, NOTE_SUFFIXES
from memory_bank.notes import files, names
from memory_bank.notes.identity import etag

_PLAN = "plan.json"
_LEAVING = "leaving-"
_STAMP = re.compile(r"\d{1,40}")


class Change(NamedTuple):
    """What becomes of one file: new bytes, or None to take it away."""

    path: str
    data: bytes | None
    expected: str
    """The etag it must have; files.ABSENT for a file that must not be there."""
    trash: bool = False
    """Taken away into the trash rather than for good."""


class _Step(NamedTuple):
    path: str
    before: str
    after: str
    staged: str
    kept: str
    trash: str


def apply(root: Path, trash: Path, changes: Sequence[Change], stamp: str) -> None:
    """Make all changes or none; the caller holds the bank's lock.

    Raises Conflict or NoteExists when a file isn't as expected, StorageFailed when the disk
    refuses; every file is then as it was. What interrupts it otherwise, Ctrl-C say, leaves the
    plan for the next writer to finish.
    """
    _check(root, changes)
    folder = trash / f"{JOURNAL_PREFIX}{os.urandom(6).hex()}"
    steps: list[_Step] = []
    try:
        files.make_folder(folder)
        for number, change in enumerate(changes):
            steps.append(_stage(folder, root, change, number, stamp))
        plan = json.dumps([step._asdict() for step in steps])
        files.replace(folder / _PLAN, plan.encode(), files.ABSENT)
    except OSError as error:
        _remove(folder)
        raise files.failed("prepare a change in", folder, error) from error
    except MemoryBankError:
        _remove(folder)
        raise
    try:
        for step in steps:
            _do(root, trash, folder, step)
    except MemoryBankError:
        for step in reversed(steps):
            _undo(root, folder, step)
        _forget(folder)
        raise
    _forget(folder)


def recover(root: Path, trash: Path) -> list[str]:
    """Finish what a killed process began; return the paths whose change was completed.

    A file that a person changed since then keeps that person's version; ours stays in the trash.
    So does a plan that can't be followed: damaged, or not of our making, as a repository may
    bring one.
    """
    done: list[str] = []
    if trash.is_symlink() or not trash.is_dir():
        return done
    for folder in sorted(trash.glob(f"{JOURNAL_PREFIX}*")):
        try:
            steps = _read_plan(root, folder)
        except (ValueError, TypeError, RecursionError, BadName):
            _set_aside(trash, folder)
            continue
        for step in steps:
            done += _redo(root, trash, folder, step)
        _forget(folder)
    return done


def _check(root: Path, changes: Sequence[Change]) -> None:
    """Raise unless every file is as expected.

    Where upper and lower case are one, a new name may be that of a file that goes away.
    """
    leaving = [file for c in changes if c.data is None and (file := root / c.path).exists()]
    for change in changes:
        file = root / change.path
        own = change.expected == files.ABSENT and file.exists()
        if not (own and any(file.samefile(other) for other in leaving)):
            files.check(file, change.expected)


def _stage(folder: Path, root: Path, change: Change, number: int, stamp: str) -> _Step:
    staged = kept = ""
    if change.data is not None:
        staged = f"new-{number}"
        files.replace(folder / staged, change.data, files.ABSENT)
    if change.expected != files.ABSENT:
        kept = f"old-{number}"
        from shutil import copy2  # start-up: looking for a journal needs no copying

        copy2(root / change.path, folder / kept)
    return _Step(
        path=change.path,
        before=change.expected,
        after=files.ABSENT if change.data is None else etag(change.data),
        staged=staged,
        kept=kept,
        trash=f"{stamp}/{change.path}" if change.trash else "",
    )


def _read_plan(root: Path, folder: Path) -> list[_Step]:
    """Return the steps of a plan, none if it was never finished; raise unless it is one of ours.

    All of its files must be notes inside the bank, and all new contents whole.
    """
    if folder.is_symlink() or not folder.is_dir():
        raise BadName(f"{folder} is no folder")
    data = files.read(folder / _PLAN)
    steps = [] if data is None else [_Step(**item) for item in json.loads(data)]
    for number, step in enumerate(steps):
        if not all(isinstance(value, str) for value in step):
            raise TypeError(f"{folder} holds no plan of ours")
        _check_inside(root, step.path)
        stamp, _, rest = step.trash.partition("/")
        known = step.staged in {"", f"new-{number}"} and step.kept in {"", f"old-{number}"}
        binned = not step.trash or (_STAMP.fullmatch(stamp) and rest == step.path)
        whole = files.current(folder / step.staged) == step.after if step.staged else not step.after
        if not (known and binned and whole):
            raise BadName(f"{folder} holds no plan of ours")
    return steps


def _check_inside(root: Path, path: str) -> None:
    parts = path.split("/")
    hidden = any(part[:1] in {"", "."} or len(part.encode()) > names.MAX_BYTES for part in parts)
    if hidden or "\0" in path or not path.endswith(NOTE_SUFFIXES):
        raise BadName(f"{path!r} is no note's path")
    names.inside(root, path)


def _do(root: Path, trash: Path, folder: Path, step: _Step) -> None:
    target = root / step.path
    if step.staged:
        data = files.read(folder / step.staged)
        if data is None:
            raise StorageFailed(f"{folder / step.staged} is gone", "try again")
        files.replace(target, data, step.before)
        return
    if step.trash:
        files.check(target, step.before)
        files.move(target, trash / step.trash)
        return
    files.remove(target, folder / f"{_LEAVING}{os.urandom(4).hex()}", step.before)


def _redo(root: Path, trash: Path, folder: Path, step: _Step) -> list[str]:
    found = files.current(root / step.path)
    if found == step.after:
        return []
    if found == step.before:
        _do(root, trash, folder, step)
        return [step.path]
    if step.staged:  # changed by a person meanwhile: keep both
        ours = files.read(folder / step.staged)
        files.replace(trash / folder.name.lstrip(".") / step.path, ours or b"")
    return []


def _undo(root: Path, folder: Path, step: _Step) -> None:
    """Put a file back as it was before the change, if the change had reached it."""
    target = root / step.path
    if step.before == step.after or files.current(target) != step.after:
        return
    try:
        if step.kept:
            (folder / step.kept).replace(target)  # a rename needs no space on a full disk
        else:
            target.unlink(missing_ok=True)
        files.sync_folder(target.parent)
    except OSError as error:
        raise files.failed("put back", target, error) from error


def _forget(folder: Path) -> None:
    """Remove a journal, its plan first, so that half of it is never taken for one."""
    try:
        (folder / _PLAN).unlink(missing_ok=True)
        _remove(folder)
        files.sync_folder(folder.parent)
    except OSError as error:
        raise files.failed("remove", folder, error) from error


def _set_aside(trash: Path, folder: Path) -> None:
    """Keep a plan that can't be followed, where nobody takes it for one."""
    try:
        folder.rename(trash / f"{folder.name.lstrip('.')}-{os.urandom(3).hex()}")
        files.sync_folder(trash)
    except OSError as error:
        raise files.failed("set aside", folder, error) from error


def _remove(folder: Path) -> None:
    from shutil import rmtree  # start-up, as above

    rmtree(folder, ignore_errors=True)
