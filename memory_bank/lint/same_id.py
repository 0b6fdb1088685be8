"""Notes with the same id."""

from collections.abc import Iterator

from memory_bank.lint.base import Context, Place
from memory_bank.manifest import documents

SUMMARY = "several notes have the same id"
SEVERITY = "error"
_FIX = "merge them, or give the newer one another id"


def check(bank: Context) -> Iterator[Place]:
    """Yield each note whose id another note has."""
    for note_id, paths in bank.once(claimed):
        for path in paths:
            others = ", ".join(other for other in paths if other != path)
            yield Place(path, 1, f"has the id {note_id}, as {others}", _FIX)


def claimed(bank: Context) -> list[tuple[str, tuple[str, ...]]]:
    """Return the ids that several notes have, with their paths."""
    return documents.same_ids(bank.manifest)
