"""The history of a note: each commit, with what it changed by words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from memory_bank.actions import provenance
from memory_bank.actions.provenance import LoggedCommit
from memory_bank.actions.trust import NoteTrust
from memory_bank.bank import Bank
from memory_bank.errors import MemoryBankError
from memory_bank.repo import git_objects
from memory_bank.repo.file_log import Change
from memory_bank.review import note_diff
from memory_bank.review.note_change import NoteChange

PAGE = 20
"""Number of commits whose changes are compared at once."""
_MOST_BYTES = 1_000_000


class Version(NamedTuple):
    """A commit of a note, and what it changed."""

    commit: LoggedCommit | None
    """None for what is not committed."""
    change: NoteChange | None
    """None if the texts are not known."""


class NoteHistory(NamedTuple):
    """Some commits of a note, the newest first."""

    path: str
    versions: tuple[Version, ...]
    offset: int
    more: bool
    """Whether there are older ones."""
    removed: bool
    """Whether the note is no longer there."""
    limits: tuple[str, ...]


def history(bank: Bank, name: str, offset: int = 0, limit: int = PAGE) -> NoteHistory:
    """Return the commits that changed a note with their word diffs, after the newest `offset`.

    What is not committed comes before the first. A note that was removed has a history, too.
    Raises NoteNotFound.
    """
    start = max(offset, 0)
    log = provenance.log(bank, name, start + limit + 1)
    with bank.lock:
        note = NoteTrust(bank, log.path)
        changes = note.changes[start : start + limit]
        tree = note.commits.tree if note.commits else None
        compared = _compared(tree, note, changes) if tree else {}
        removed = not bank.store.exists(log.path)
        new = _uncommitted(tree, note) if log.uncommitted and not removed and not start else None
    versions = [
        Version(one, compared.get(one.source.commit)) for one in log.commits[start : start + limit]
    ]
    if tree and log.uncommitted and not start:
        versions.insert(0, Version(None, new))
    more = len(log.commits) > start + limit
    return NoteHistory(log.path, tuple(versions), start, more, removed, log.limits)


def _compared(tree: Path, note: NoteTrust, changes: Sequence[Change]) -> dict[str, NoteChange]:
    """Return how each commit changed the note, against its first parent."""
    below = note.below(tree)
    sides = []
    for one in changes:
        parent = one.commit.parents[0] if one.commit.parents else ""
        before = f"{parent}:{below(one.old)}" if parent and one.status != "A" else ""
        after = "" if one.status == "D" else f"{one.commit.id}:{below(one.path)}"
        sides.append((one, before, after))
    names = [name for _, *both in sides for name in both if name]
    ids = git_objects.named(tree, names)
    texts = dict(git_objects.blobs(tree, set(ids.values()), _MOST_BYTES))

    def side(path: str, name: str) -> dict[str, bytes]:
        data = texts.get(ids.get(name, "")) if name else None
        return {} if data is None else {path: data}

    found = {}
    for one, before, after in sides:
        made = note_diff.compare(side(one.path, before), side(one.path, after), below)
        if made:
            found[one.commit.id] = made[0]
    return found


def _uncommitted(tree: Path | None, note: NoteTrust) -> NoteChange | None:
    """Return how the file differs from HEAD."""
    blob = note.commits.blobs.get(note.path, "") if note.commits else ""
    before: dict[str, bytes] = {}
    try:
        if tree and blob:
            for _, data in git_objects.blobs(tree, [blob], _MOST_BYTES):
                before[note.path] = data
        made = note_diff.compare(before, {note.path: note.data}, lambda path: path)
    except MemoryBankError:
        return None
    return made[0] if made else None
