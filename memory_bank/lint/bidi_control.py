"""Characters that make text appear in another order than it is read."""

from collections.abc import Iterator

from memory_bank.config import Settings
from memory_bank.lint.base import Edit, Place, at
from memory_bank.notes.note_text import NoteText
from memory_bank.notes.unseen_characters import direction_controls

SUMMARY = "a text has bidirectional controls, so that it appears in another order than it is read"
SEVERITY = "error"
FIXES = True


def check_note(note: NoteText, _: Settings) -> Iterator[Place]:
    """Yield each such character, unless text from right to left needs it."""
    if note.text.isascii():
        return
    for one in direction_controls(note.text):
        message = f"{one.named} changes the order in which text appears"
        edit = Edit(one.start, note.text[one.start : one.end], "")
        yield at(note, one.start, one.end, message, "remove it")._replace(edits=(edit,))
