"""Notes with the same content; notes that git tracks and private ones are kept apart."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from memory_bank import note_rows
from memory_bank.actions.authors import warnings
from memory_bank.bank import Bank
from memory_bank.errors import MemoryBankError
from memory_bank.note_rows import NoteRow
from memory_bank.notes import frontmatter
from memory_bank.notes.names import name_of
from memory_bank.notes.schema import folder_of
from memory_bank.repo import git
from memory_bank.session_notes import SESSION

if TYPE_CHECKING:
    from memory_bank.actions.remember import Remembered

SAME_AS = "same_as"
"""The key of a private note with the link to the tracked note that has the same content."""
_NO_LINK = frozenset("[]#^|")
"""Characters that a wikilink's target can't have."""


class Duplicates(NamedTuple):
    """The oldest notes with a content that are not archived."""

    near: NoteRow | None = None
    """The oldest that is tracked or private as the new note; it is updated."""
    far: NoteRow | None = None
    """The oldest of the other kind; only a private one is changed, by `linked`."""
    private: bool = False
    """Whether `near` and the new note are private."""


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
    return Duplicates(next(iter(near), None), next(iter(far), None), side)


def linked(bank: Bank, found: Duplicates, done: Remembered) -> Remembered:
    """Name the note with the same content on the other side, to which the private one gets a link.

    The tracked one gets none: for others, it would lead nowhere. Call it after the note was
    written, while its bank is locked.
    """
    if found.far is None:
        return done
    private, tracked = done.path, found.far.path
    if not found.private:
        private, tracked = tracked, private
    done = replace(done, same_as=found.far.path)
    try:
        etag = bank.store.change(private, lambda text: _with_link(text, name_of(tracked)))
    except MemoryBankError as error:
        failed = f"{private} got no link to the same content: {error.message}"
        return replace(done, warning=warnings(done.warning, failed))
    return replace(done, etag=etag) if private == done.path else done


def _with_link(text: str, name: str) -> str:
    """Return a note's text with a link to the note that has the same content."""
    raw, _ = frontmatter.metadata(frontmatter.split(text))
    link, there = f"[[{name}]]", raw.get(SAME_AS, "[[")
    ours = isinstance(there, str) and there.startswith("[[") and there != link
    if _NO_LINK.intersection(name) or not ours:
        return text
    return frontmatter.set_keys(text, {SAME_AS: link})


def stays_here(bank: Bank, path: str) -> bool:
    """Tell whether a note is private to this machine: a session's, or ignored by git."""
    if path.startswith(f"{folder_of(SESSION)}/"):
        return True
    tree = git.worktree(bank.layout.root)
    return tree is not None and git.ignores(tree, bank.layout.root / path)
