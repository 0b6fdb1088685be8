"""Turn what names a note in an address into its path."""

from __future__ import annotations

import os
from pathlib import Path

from memory_bank.bank.bank import Bank
from memory_bank.base.filenames import NOTE_SUFFIXES


def note_path(bank: Bank, file: str) -> str:
    """Return the path of the note that a file is, or would be; empty for other files.

    `file` is absolute.
    """
    if not file.endswith(NOTE_SUFFIXES):
        return ""
    if private := bank.roots.key_of(file):
        return private
    layout, included = bank.layout, bank.roots.included
    for form in dict.fromkeys((os.path.normpath(file), os.path.realpath(file))):
        below = _below(form, layout.root)
        if below:
            return "" if any(part.startswith(".") for part in below.split("/")) else below
        if included and (below := _below(form, layout.project)) and included.owns(below):
            return below
    return ""


def _below(file: str, folder: Path) -> str:
    """Return a file's path below a folder with forward slashes; empty if it is not inside."""
    start = str(folder).rstrip(os.sep) + os.sep
    return file.removeprefix(start).replace(os.sep, "/") if file.startswith(start) else ""
