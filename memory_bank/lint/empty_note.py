"""Notes without text."""

from collections.abc import Iterator

from memory_bank.config import Settings
from memory_bank.lint.base import Place
from memory_bank.notes.note_text import NoteText

SUMMARY = "a note has no text"
SEVERITY = "warning"


def check_note(note: NoteText, _: Settings) -> Iterator[Place]:
    """Yield the note if it has only front matter and white space."""
    if not note.parts.body.strip("\ufeff \t\r\n\f\v"):
        yield Place(note.path, 1, "has no text", "write its text, or remove it")
