"""Content inside addresses."""

import re
from collections.abc import Iterator

from memory_bank.config import Settings
from memory_bank.lint.base import Place, at
from memory_bank.notes.note_text import NoteText

SUMMARY = "an address has its content in it (data:), which nobody can review"
SEVERITY = "warning"
_DATA = re.compile(
    r"(?<![\w.-])data:(?:[\w.+-]{1,60}/[\w.+-]{1,80})?(?:;[\w=.+-]{1,80})*+,\S", re.IGNORECASE
)


def check_note(note: NoteText, _: Settings) -> Iterator[Place]:
    """Yield each such address outside code."""
    if "data:" not in note.text.lower():
        return
    for found in _DATA.finditer(note.text, note.body_start):
        if not note.in_code(found.start()):
            kind = found[0][:-1]
            place = at(note, *found.span(), f"content inside an address: {kind}", "link to a file")
            yield place._replace(words=kind)
