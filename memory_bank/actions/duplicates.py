"""Notes with the same content; notes that git tracks and private ones are kept apart."""

from __future__ import annotations

from typing import NamedTuple

from memory_bank import note_rows
from memory_bank.bank import Bank
from memory_bank.note_rows import NoteRow
from memory_bank.notes.schema import folder_of
from memory_bank.repo import git
from memory_bank.session_notes import SESSION


class Duplicates(NamedTuple):
    """The oldest notes with a content that are not archived."""

    near: NoteRow | None = None
    """The oldest that is tracked or private as the new note; it is updated."""
    far: NoteRow | None = None
    """The oldest of the other kind; it is not changed."""


def with_content(bank: Bank, content_hash: str) -> list[NoteRow]:
    """Return the bank's own notes with a content, the oldest first: no included files."""
    found = bank.read(lambda view: note_rows.with_content(view.manifest, content_hash))
    return [note for note in found if not bank.roots.is_included(note.path)]


def duplicates(bank: Bank, content_hash: str, path: str) -> Duplicates:
    """Return the notes with a content; `path` tells whether a new note would be private."""
    found = with_content(bank, content_hash)
    if not found:
        return Duplicates()
    side = stays_here(bank, path)
    sides = [(stays_here(bank, note.path) == side, note) for note in found]
    near, far = ([note for same, note in sides if same is wanted] for wanted in (True, False))
    return Duplicates(next(iter(near), None), next(iter(far), None))


def stays_here(bank: Bank, path: str) -> bool:
    """Tell whether a note is private to this machine: a session's, or ignored by git."""
    if path.startswith(f"{folder_of(SESSION)}/"):
        return True
    tree = git.worktree(bank.layout.root)
    return tree is not None and git.ignores(tree, bank.layout.root / path)
