"""What names of files and folders in a bank mean, and where a bank is."""

from __future__ import annotations

import os

FOLDER = ".memories"
NOTE_SUFFIXES = (".md", ".markdown")
TEMPORARY_PREFIX = ".mb-"
"""Start of a file that is being written; a kill may leave one behind, the next start removes it."""

JOURNAL_PREFIX = ".journal-"
"""Start of a folder in the trash that holds a change of several files in the middle of its work."""


def inside(folder: str) -> str:
    """Return the folder of notes that is meant by a folder of notes or a project."""
    inner = os.path.join(folder, FOLDER)
    return inner if os.path.isdir(inner) else folder


def above(folder: str) -> str | None:
    """Return the `.memories` of a resolved folder or of the nearest one above it, if one has it."""
    while True:
        inner = os.path.join(folder, FOLDER)
        if os.path.isdir(inner):
            return inner
        folder, before = os.path.dirname(folder), folder
        if folder == before:
            return None
