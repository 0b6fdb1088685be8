"""Files that are indexed although something in them could not be read as it stands."""

from collections.abc import Iterator

from memory_bank.lint.base import Context, Place
from memory_bank.manifest import documents
from memory_bank.notes.merge_conflicts import UNRESOLVED

SUMMARY = "something in a note could not be read as it stands"
SEVERITY = "warning"


def check(bank: Context) -> Iterator[Place]:
    """Yield the faults that reading met, merge conflicts left out."""
    for path, line, reason in documents.faults(bank.manifest):
        if reason != UNRESOLVED:
            yield Place(path, line, reason)
