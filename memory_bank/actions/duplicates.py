"""Notes of the same content: what git tracks is kept apart from what stays on this machine."""

from __future__ import annotations

from typing import NamedTuple

from memory_bank import note_rows
from memory_bank.bank import Bank
from memory_bank.note_rows import NoteRow
from memory_bank.notes.schema import folder_of
from memory_bank.repo import git
from memory_bank.session_notes import SESSION


class Duplicates(NamedTuple):
    """Live notes of one content, as a note at some path sees them."""

    near: NoteRow | None = None
    """The oldest on the same side: it is the note that the content is in."""
    far: NoteRow | None = None
    """The oldest on the other side: it stays as it is."""


def duplicates(bank: Bank, content_hash: str, path: str) -> Duplicates:
    """Return the notes of a content, on either side of the line that a note at `path` is on."""
    found = bank.read(lambda view: note_rows.with_content(view.manifest, content_hash))
    if not found:
        return Duplicates()
    side = stays_here(bank, path)
    sides = [(stays_here(bank, note.path) == side, note) for note in found]
    near, far = ([note for same, note in sides if same is wanted] for wanted in (True, False))
    return Duplicates(next(iter(near), None), next(iter(far), None))


def stays_here(bank: Bank, path: str) -> bool:
    """Tell whether a note never leaves this machine: it is a session's, or git ignores it."""
    if path.startswith(f"{folder_of(SESSION)}/"):
        return True
    tree = git.worktree(bank.layout.root)
    return tree is not None and git.ignores(tree, bank.layout.root / path)
