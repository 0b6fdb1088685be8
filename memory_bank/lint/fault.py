"""Indexed files with a fault, such as invalid front matter."""

from collections.abc import Iterator

from memory_bank.lint.base import Context, Place
from memory_bank.manifest import documents
from memory_bank.notes.merge_conflicts import UNRESOLVED

SUMMARY = "a note has a fault, such as invalid front matter"
SEVERITY = "warning"


def check(bank: Context) -> Iterator[Place]:
    """Yield the faults of all notes, except merge conflicts."""
    for path, line, reason in documents.faults(bank.manifest):
        if reason != UNRESOLVED:
            yield Place(path, line, reason)
