"""Remove texts and notes from the folders of a bank for good: nothing goes to the trash.

The caller is inside the store's `writing`, and has entered the root.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from stat import S_ISDIR, S_ISREG

from memory_bank.base import NamedTuple
from memory_bank.base.errors import BadName, Conflict, UnreadableNote
from memory_bank.base.filenames import LOCK_FILE, NOTE_SUFFIXES, TEMPORARY_PREFIX
from memory_bank.base.removed_text import PLAIN_MARK, RemovedText
from memory_bank.notes import characters, front_matter, parsing
from memory_bank.notes.identity import hash_bytes, make_slug
from memory_bank.notes.merging import conflicts
from memory_bank.notes.merging.conflicts import UNRESOLVED
from memory_bank.notes.storage import files
from memory_bank.notes.storage.folders import files_in, hold_folder, names_in, read_stat
from memory_bank.notes.storage.trash_folder import TRASH

_NOT_OURS = frozenset({".git", ".index"})

_TRIES = 5
"""How often a file is read again that another program saved meanwhile."""

_LEAST_SLUG = 4
"""Fewest characters of a text in a file's name that are not there by chance."""


class FoundText(NamedTuple):
    """A file that has the text."""

    path: str
    number: int
    """How often it has the text."""
    problem: str
    """Why it can't be rewritten; empty if it can."""


def yield_files(folder: Path) -> Iterator[str]:
    """Yield all plain files below a folder of notes, except those of git and of the index."""
    for name in names_in(folder):
        stat = None if name in _NOT_OURS else read_stat(folder, name)
        if stat is not None and S_ISDIR(stat.st_mode):
            yield from (path for path in files_in(folder, name) if "/.git/" not in path)
        elif stat is not None and S_ISREG(stat.st_mode):
            yield name


def is_leftover(path: str) -> bool:
    """Return whether a file was left by a killed writer."""
    name = path.rpartition("/")[2]
    return name.startswith(TEMPORARY_PREFIX) and name != LOCK_FILE


def is_trashed(path: str) -> bool:
    """Return whether a file is in the trash."""
    return path.startswith(f"{TRASH}/")


def is_note(path: str) -> bool:
    """Return whether a file is a note, or a note in the trash."""
    hidden = any(part.startswith(".") for part in path.removeprefix(f"{TRASH}/").split("/"))
    return not hidden and path.endswith(NOTE_SUFFIXES)


def count_text(folder: Path, path: str, removed: RemovedText) -> FoundText | None:
    """Return how often a file has the text; None if it does not have it."""
    data = files.read_in(folder, path)
    if data is None:
        return None
    try:
        decoded = characters.decode(data)
    except UnreadableNote as error:
        number = sum(data.count(form) for form in removed.bytes)
        return FoundText(path, number, error.message) if number else None
    if not (number := removed.count(decoded.text)):
        return None
    problem = "" if decoded.writable else decoded.faults[0].reason
    if conflicts.find(decoded.text):
        problem = UNRESOLVED
    return FoundText(path, number, problem)


def rewrite(folder: Path, path: str, removed: RemovedText) -> None:
    """Replace the text in a file; raise as `change` does."""
    change(folder, path, lambda text: remove_text(text, removed))


def change(folder: Path, path: str, edit: Callable[[str], str]) -> None:
    """Change a file's text; raise UnreadableNote, or Conflict if others keep changing it."""
    for tries in reversed(range(_TRIES)):
        data = files.read_in(folder, path)
        if data is None:
            return
        new = parsing.edit_bytes(data, edit)
        try:
            with files.open_parent(folder, path, "write") as file:
                files.replace(file, new, hash_bytes(data))
        except Conflict:
            if not tries:
                raise
        else:
            return


def remove_text(text: str, removed: RemovedText) -> str:
    """Return a note's text without the removed one."""
    parts = front_matter.split(text)
    head = "".join(parts[:3])
    return removed.replaced(head, bare=True) + removed.replaced(parts.body)


def remove_file(folder: Path, path: str) -> None:
    """Delete a file for good, and with one in the trash the folders that are empty then."""
    with files.open_parent(folder, path, "delete") as file:
        file.unlink()
        file.sync()
    _remove_empty(folder, path)


def move(folder: Path, old: str, new: str) -> None:
    """Rename a file in the trash; raise NoteExists if the name is taken."""
    with (
        files.open_parent(folder, old, "move") as source,
        files.open_parent(folder, new, "move", make=True) as goal,
    ):
        files.move(source, goal)
    _remove_empty(folder, old)


def new_name(path: str, removed: RemovedText) -> str:
    """Return a path without the text, and without the form of it that names of files have."""
    name = removed.replaced(path, bare=True)
    short = make_slug(removed.text, len(removed.text))
    if len(short) < _LEAST_SLUG:
        return name
    whole = rf"(?<![^\W_]){re.escape(short)}(?![^\W_])"
    return re.sub(whole, PLAIN_MARK, name)


def _remove_empty(folder: Path, path: str) -> None:
    while is_trashed(path) and (path := path.rpartition("/")[0]) != TRASH:
        try:
            with hold_folder(folder, path) as above:
                above.rmdir()
        except (OSError, BadName):
            return  # not empty
