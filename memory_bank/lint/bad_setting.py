"""Settings of the project's file that can't hold."""

from collections.abc import Iterator

from memory_bank.filenames import SETTINGS
from memory_bank.lint.base import Context, Place

SUMMARY = "a setting of the project's file is wrong, or only the user may have it"
SEVERITY = "error"


def check(bank: Context) -> Iterator[Place]:
    """Yield what is wrong, where the file has it."""
    for one in bank.settings.problems:
        yield Place(SETTINGS, one.line, one.message, one.hint)
