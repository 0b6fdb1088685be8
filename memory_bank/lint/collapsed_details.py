"""Collapsed parts of a text."""

import re
from collections.abc import Iterator

from memory_bank.config import Settings
from memory_bank.lint.base import Place, at
from memory_bank.notes.note_text import NoteText

SUMMARY = "a part of the text is collapsed, so that readers see only its summary"
SEVERITY = "info"
_DETAILS = re.compile(r"<details\b([^<>]*)>?", re.IGNORECASE)
_OPEN = re.compile(r"\bopen\b", re.IGNORECASE)


def check_note(note: NoteText, _: Settings) -> Iterator[Place]:
    """Yield each `<details>` outside code that is not open."""
    for found in _DETAILS.finditer(note.text, note.body_start):
        if not _OPEN.search(found[1]) and not note.in_code(found.start()):
            fix = "write <details open>, or a heading"
            yield at(note, *found.span(), "what follows is collapsed", fix)
