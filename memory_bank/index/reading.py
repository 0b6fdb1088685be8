"""Read one file for the index: the note's rows and dates, or why it can't be one."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from memory_bank.errors import BadName, StorageFailed, UnreadableNote
from memory_bank.manifest.rows import Dating, NoteRows
from memory_bank.manifest.write import BY_FILE, BY_GIT, BY_NOTE
from memory_bank.notes import files
from memory_bank.notes.folders import held
from memory_bank.notes.identity import etag
from memory_bank.notes.scan import Stamp, stamp_of, trusted, unknown

if TYPE_CHECKING:
    from memory_bank.notes.note import Meta


class Unread(NamedTuple):
    """A file that is there but can't be indexed."""

    stamp: Stamp
    etag: str
    reason: str


class Same(NamedTuple):
    """A file whose bytes are what is indexed; only its stamp is another."""

    stamp: Stamp
    mtime: float
    """Seconds since the epoch."""


class Gone(NamedTuple):
    """A file that is no longer there."""


class Asked(NamedTuple):
    """A file to be read, and what is known of it."""

    path: str
    etag: str = ""
    """Of the bytes that are indexed."""
    committed: float | None = None
    """When it was first committed, in seconds since the epoch; None if it wasn't."""
    blob: bytes = b""
    """Its bytes in HEAD, as git names them; empty if it is not there."""


class Place(NamedTuple):
    """Where the files are, and how they are read."""

    root: Path
    prefix: str
    """The bank's folder below its project: ".memories/", or empty."""
    max_bytes: int


Found = NoteRows | Unread | Same | Gone


def read_all(place: Place, files: Sequence[Asked]) -> Generator[tuple[str, Found]]:
    """Yield what each file says, in their order."""
    for asked in files:
        yield asked.path, read(place, asked)


def read(place: Place, asked: Asked) -> Found:
    """Read a file; Same if its etag is still the one that is indexed."""
    try:
        with held(place.root, asked.path) as file:
            found = stamp_of(file.stat())
            if found is None:
                return Gone()
            if found[0] > place.max_bytes:
                most = f"more than the setting max_note_bytes = {place.max_bytes}"
                return Unread(trusted(found), "", f"{found[0]} bytes, {most}")
            try:
                data = files.read(file)
            except StorageFailed as error:
                return Unread(unknown(found[0]), "", error.message)
    except (FileNotFoundError, NotADirectoryError, BadName):
        return Gone()  # or a link is on the way now: what it leads to is no note of the bank
    return Gone() if data is None else _parsed(place, asked, found, data)


def _parsed(place: Place, asked: Asked, found: Stamp, data: bytes) -> Found:
    hashed = etag(data)
    if hashed == asked.etag:
        return Same(trusted(found), _mtime(found))
    # start-up: a bank that is up to date needs no parser
    from memory_bank.manifest.rows import rows_of
    from memory_bank.notes import reader
    from memory_bank.repo import git

    try:
        note = reader.parse(asked.path, data)
    except UnreadableNote as error:
        return Unread(trusted(found), hashed, error.message)
    dating = _dating(note.meta, asked.committed, _mtime(found), git.blob(data, asked.blob))
    return rows_of(note, trusted(found), dating, place.prefix)


def _dating(meta: Meta, committed: float | None, mtime: float, blob: bytes) -> Dating:
    if meta.created_at is not None:
        created, dated = meta.created_at.timestamp(), BY_NOTE
    elif committed is not None:
        created, dated = committed, BY_GIT
    else:
        created, dated = mtime, BY_FILE
    said = meta.updated_at.timestamp() if meta.updated_at else None
    return Dating(created, dated, said, mtime, blob)


def _mtime(found: Stamp) -> float:
    return found[1] / 1e9
