"""Front matter that can't be parsed."""

from collections.abc import Iterator

from memory_bank.config import Settings
from memory_bank.lint.base import Place
from memory_bank.notes.merge_conflicts import UNRESOLVED
from memory_bank.notes.note import Fault
from memory_bank.notes.note_text import NoteText

SUMMARY = "front matter can't be parsed, so that none of its keys counts"
SEVERITY = "error"
PRIVATE = True
_STARTS = ("front matter can't be parsed", "front matter opens on line 1")


def check_note(note: NoteText, _: Settings) -> Iterator[Place]:
    """Yield what is wrong in front matter that gives no values."""
    for fault in note.faults:
        if unparsed(fault):
            yield Place(note.path, fault.line, fault.reason)


def unparsed(fault: Fault) -> bool:
    """Tell whether a fault is that of front matter that gives no values."""
    return fault.reason != UNRESOLVED and fault.reason.startswith(_STARTS)
