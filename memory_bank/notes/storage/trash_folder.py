"""The trash of a bank: each version of a deleted note is in a folder named by its time."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from stat import S_ISDIR

from memory_bank.base import NamedTuple, lazy_pattern
from memory_bank.base.errors import Conflict, Hint, NoteNotFound
from memory_bank.base.filenames import NOTE_SUFFIXES
from memory_bank.notes import names
from memory_bank.notes.storage import files
from memory_bank.notes.storage.folders import files_in, names_in, read_stat

TRASH = ".trash"

_TIME = "%Y%m%d%H%M%S%f"

_VERSION = lazy_pattern(r"[0-9]{20}")
"""A folder of ours, in contrast to one that another program, such as Obsidian, put there."""


class Trashed(NamedTuple):
    """A version of a deleted note: the note's former path, and its folder in the trash."""

    path: str
    version: str
    """The time of deletion in UTC, to the microsecond; sorts by time."""

    @property
    def place(self) -> str:
        """Its path, relative to the bank."""
        return f"{TRASH}/{self.version}/{self.path}"


def new_version() -> str:
    """Return the current time as the name of a version."""
    return datetime.now(UTC).strftime(_TIME)


def deleted_at(version: str) -> datetime | None:
    """Return the time of a version's deletion; None for a folder that another program made."""
    if not _VERSION.fullmatch(version):
        return None
    try:
        return datetime.strptime(version, _TIME).replace(tzinfo=UTC)
    except ValueError:
        return None


def list_trashed(roots: Iterable[Path]) -> list[Trashed]:
    """List the notes in the trash of some folders of notes, the newest first."""
    trashed = [
        Trashed(file.removeprefix(f"{TRASH}/{version}/"), version)
        for root in roots
        for version in names_in(root, TRASH)
        if not version.startswith(".")
        for file in files_in(root, f"{TRASH}/{version}")
        if file.endswith(NOTE_SUFFIXES)
    ]
    return sorted(trashed, key=lambda note: (note.version, note.path), reverse=True)


def choose_version(trashed: Iterable[Trashed], path: str, version: str = "") -> Trashed:
    """Return the deleted note of a path whose version starts with `version`, else the first.

    Raises NoteNotFound if there is none, Conflict if several start so.
    """
    key = names.lookup_key(path)
    note_versions = [note for note in trashed if names.lookup_key(note.path) == key]
    if not note_versions:
        raise NoteNotFound(f"there is no {path!r} in the trash", Hint.LIST_TRASH)
    versions = [note for note in note_versions if note.version.startswith(version)]
    if not versions:
        raise NoteNotFound(
            f"there is no version {version!r} of {note_versions[0].path} in the trash",
            "it has: {versions}",
            versions=", ".join(note.version for note in note_versions),
        )
    if version and len(versions) > 1:
        raise Conflict(
            f"{len(versions)} versions of {versions[0].path} start with {version!r}",
            "choose one: {versions}",
            versions=", ".join(note.version for note in versions),
        )
    return versions[0]


def remove_version(root: Path, version: str) -> None:
    """Delete what was deleted at one time for good."""
    _remove(root, f"{TRASH}/{version}")


def list_emptied(roots: Iterable[Path], before: datetime | None = None) -> list[Trashed]:
    """List the versions of deleted notes, or those from before a time.

    What other programs put there is left out, and an interrupted change.
    """
    return [
        note
        for note in list_trashed(roots)
        if (moment := deleted_at(note.version)) and (before is None or moment < before)
    ]


def _remove(root: Path, path: str) -> None:
    """Remove a folder and what is in it; symbolic links are not followed."""
    for name in names_in(root, path):
        child = f"{path}/{name}"
        stat = read_stat(root, child)
        if stat is not None and S_ISDIR(stat.st_mode):
            _remove(root, child)
        else:
            with files.open_parent(root, child, "delete") as file:
                file.unlink()
    with files.open_parent(root, path, "delete") as folder:
        folder.rmdir()
