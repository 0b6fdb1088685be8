"""Indexed files of which a part could not be read."""

from collections.abc import Iterator

from memory_bank.lint.bad_front_matter import unparsed
from memory_bank.lint.base import Context, Place
from memory_bank.manifest import documents
from memory_bank.notes.merge_conflicts import UNRESOLVED
from memory_bank.notes.note import Fault

SUMMARY = "a part of a note could not be read, such as a date in front matter"
SEVERITY = "warning"


def check(bank: Context) -> Iterator[Place]:
    """Yield the faults of all notes, except those with a rule of their own."""
    for path, line, reason in documents.faults(bank.manifest):
        if reason != UNRESOLVED and not unparsed(Fault(reason, line)):
            yield Place(path, line, reason)
