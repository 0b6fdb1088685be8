"""Large notes."""

from collections.abc import Iterator

from memory_bank.config import Settings
from memory_bank.lint.base import Place
from memory_bank.notes.note_text import NoteText

SUMMARY = "a note is larger than 10 KB"
SEVERITY = "info"
MOST = 10 * 1024
"""Bytes."""


def check_note(note: NoteText, _: Settings) -> Iterator[Place]:
    """Yield the note if it is larger."""
    if note.size > MOST:
        yield Place(note.path, 1, f"has {note.size:,} bytes", "make several notes of it")
