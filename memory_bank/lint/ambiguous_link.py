"""Links that several notes answer to."""

from collections.abc import Iterator

from memory_bank.lint.base import Context, Place
from memory_bank.lint.broken_link import broken

SUMMARY = "a link may mean several notes"
SEVERITY = "warning"
_FIX = "write the path of the note that is meant"


def check(bank: Context) -> Iterator[Place]:
    """Yield the ambiguous links, each with the notes that it may mean."""
    for row, problem in bank.once(broken):
        if row.ambiguous:
            yield Place(row.source_key, row.line, problem, _FIX)
