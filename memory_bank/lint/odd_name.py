"""Notes whose names no new note may have."""

from collections.abc import Iterator

from memory_bank.lint.base import Context, Place
from memory_bank.manifest import documents
from memory_bank.notes import names

SUMMARY = "a note has a name that new notes must not have; it is indexed"
SEVERITY = "info"


def check(bank: Context) -> Iterator[Place]:
    """Yield the notes with odd names, each with the reason."""
    for path in bank.wanted(documents.hashes(bank.manifest)):
        if reason := names.oddity(path):
            yield Place(path, 1, reason)
