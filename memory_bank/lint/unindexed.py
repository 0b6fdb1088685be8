"""Files that are not in the index."""

from collections.abc import Iterator

from memory_bank.lint.base import Context, Place
from memory_bank.manifest import documents

SUMMARY = "a file is not indexed"
SEVERITY = "error"


def check(bank: Context) -> Iterator[Place]:
    """Yield the files that are not indexed, with the reason."""
    for path, reason in documents.unindexed(bank.manifest):
        yield Place(path, 1, reason)
