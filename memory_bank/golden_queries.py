"""Read the file of a bank with its golden queries."""

from __future__ import annotations

from pathlib import Path
from stat import S_ISLNK, S_ISREG

from memory_bank.errors import BadInput, BadName
from memory_bank.filenames import QUERIES
from memory_bank.notes import files, folders

MOST_BYTES = 1_000_000
"""Maximum size of the file."""


def text_in(folder: Path, name: str = QUERIES) -> str | None:
    """Return the text of a bank's file of queries; None if there is none.

    No symbolic link is followed. Raises BadInput, which calls the file `name`.
    """
    found = folders.stat_of(folder, QUERIES)
    if found is None:
        return None
    if not S_ISREG(found.st_mode):
        kind = "a symbolic link" if S_ISLNK(found.st_mode) else "no plain file"
        raise BadInput(f"{name}: is {kind}", "make it a plain file")
    if found.st_size > MOST_BYTES:
        raise BadInput(f"{name}: larger than {MOST_BYTES:,} bytes", "remove queries")
    try:
        data = files.read_in(folder, QUERIES) or b""
        return data.decode("utf-8-sig")
    except BadName as error:
        raise BadInput(f"{name}: is a symbolic link", "make it a plain file") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{name}: is not UTF-8", "save it as UTF-8") from error
