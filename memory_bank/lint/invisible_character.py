"""Zero-width and other invisible characters."""

from collections.abc import Iterator

from memory_bank.config import Settings
from memory_bank.lint.base import Edit, Place, at
from memory_bank.notes.note_text import NoteText
from memory_bank.notes.unseen_characters import invisible

SUMMARY = "a text has zero-width or other invisible characters"
SEVERITY = "warning"
FIXES = True


def check_note(note: NoteText, _: Settings) -> Iterator[Place]:
    """Yield each place with such characters, unless a script or an emoji needs them."""
    if note.text.isascii() and note.text.isprintable():
        return
    for one in invisible(note.text):
        place = at(note, one.start, one.end, f"{one.named} can't be seen")
        if one.removable:
            old = note.text[one.start : one.end]
            edit = Edit(one.start, old, " " * old.count(" "))
            place = place._replace(fix="remove it", edits=(edit,))
        yield place
