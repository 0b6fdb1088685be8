"""Text files that are not indexed because of their names."""

from collections.abc import Iterator
from pathlib import PurePosixPath

from memory_bank.lint.base import Context, Place

SUMMARY = "a text file is not a note: its name ends in .txt or .mdx, for example"
SEVERITY = "info"


def check(bank: Context) -> Iterator[Place]:
    """Yield text files that may be meant as notes."""
    there = {path.casefold() for path in (*bank.files, *bank.texts)}
    for path in bank.texts:
        file = PurePosixPath(path)
        new = file.with_suffix(".md")
        if str(new).casefold() in there:
            new = file.with_name(f"{file.name}.md")
        message = f"is not indexed, as its name ends in {file.suffix}"
        yield Place(path, 1, message, f"if it is a note, rename it to {new.name}")
