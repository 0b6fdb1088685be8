"""What names of files and folders in a bank mean, and where a bank is: without loading anything.

A question's first step is a look at the files, sent off before the rest is loaded; so nothing is
imported here but `os`.
"""

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


def meant(named: str | None) -> str:
    """Return the folder of notes, resolved, that a name or else the working directory means.

    As `layout.locate` finds it where no setting sends it elsewhere. Raises FileNotFoundError.
    """
    found = inside(os.path.expanduser(named)) if named else above(os.path.realpath(os.curdir))
    if found is None:
        raise FileNotFoundError(FOLDER)
    return os.path.realpath(found)
