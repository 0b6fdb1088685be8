"""Notes with unresolved merge conflicts of git."""

from collections.abc import Iterator

from memory_bank.config import Settings
from memory_bank.lint.base import Place
from memory_bank.notes import merge_conflicts
from memory_bank.notes.merge_conflicts import UNRESOLVED
from memory_bank.notes.note_text import NoteText

SUMMARY = "a merge conflict was not resolved"
SEVERITY = "error"
PRIVATE = True
_FIX = "keep the right lines and remove the lines of <<<<<<<, ======= and >>>>>>>"


def check_note(note: NoteText, _: Settings) -> Iterator[Place]:
    """Yield each conflict."""
    lines = {found.line for found in merge_conflicts.find(note.text)}
    if merge_conflicts.OPENING in note.head:
        lines |= {fault.line for fault in note.faults if fault.reason == UNRESOLVED}
    for line in sorted(lines):
        yield Place(note.path, line, UNRESOLVED, _FIX)
