"""Notes whose names no new note may have."""

from collections.abc import Iterator

from memory_bank.lint.base import Context, Place
from memory_bank.manifest import documents
from memory_bank.notes import names

SUMMARY = "a note has a name that no new note may have; it is read all the same"
SEVERITY = "info"


def check(bank: Context) -> Iterator[Place]:
    """Yield the notes of odd names, with what is odd."""
    for path in documents.hashes(bank.manifest):
        if reason := names.oddity(path):
            yield Place(path, 1, reason)
