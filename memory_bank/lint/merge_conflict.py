"""Notes with unresolved merge conflicts of git."""

from collections.abc import Iterator

from memory_bank.lint.base import Context, Place
from memory_bank.manifest import documents
from memory_bank.notes.merge_conflicts import UNRESOLVED

SUMMARY = "a merge conflict was not resolved"
SEVERITY = "error"
_FIX = "keep the right lines and remove the lines of <<<<<<<, ======= and >>>>>>>"


def check(bank: Context) -> Iterator[Place]:
    """Yield each conflict."""
    for path, line, reason in documents.faults(bank.manifest):
        if reason == UNRESOLVED:
            yield Place(path, line, UNRESOLVED, _FIX)
