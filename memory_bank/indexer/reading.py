"""Read one file for the index: the note, its passages and its dates, or why it can't be one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from memory_bank.errors import StorageFailed, UnreadableNote
from memory_bank.manifest.write import BY_FILE, BY_GIT, BY_NOTE, Reading
from memory_bank.notes import files
from memory_bank.notes.identity import etag
from memory_bank.notes.note import Note
from memory_bank.notes.passages import passages
from memory_bank.notes.scan import Stamp, stamp, trusted, unknown

FirstCommit = Callable[[str], float | None]
"""Tell when a path was first committed, in seconds since the epoch; None if it wasn't."""


@dataclass(frozen=True, slots=True)
class Unread:
    """A file that is there but can't be indexed."""

    stamp: Stamp
    etag: str
    reason: str


@dataclass(frozen=True, slots=True)
class Same:
    """A file whose bytes are what is indexed; only its stamp is another."""

    stamp: Stamp
    mtime: float
    """Seconds since the epoch."""


def read(
    root: Path, path: str, max_bytes: int, first_commit: FirstCommit, indexed: str = ""
) -> Reading | Unread | Same | None:
    """Read the file at a path; Same if its etag is still `indexed`, None when it is gone."""
    found = stamp(root / path)
    if found is None:
        return None
    if found[0] > max_bytes:
        reason = f"{found[0]} bytes, more than the setting max_note_bytes = {max_bytes}"
        return Unread(trusted(found), "", reason)
    try:
        data = files.read(root / path)
    except StorageFailed as error:
        return Unread(unknown(found[0]), "", error.message)
    if data is None or etag(data) == indexed:
        return None if data is None else Same(trusted(found), _mtime(found))
    from memory_bank.notes import reader  # start-up: a bank that is up to date needs no parser

    try:
        return _reading(reader.parse(path, data), found, first_commit)
    except UnreadableNote as error:
        return Unread(trusted(found), etag(data), error.message)


def _reading(note: Note, found: Stamp, first_commit: FirstCommit) -> Reading:
    meta = note.meta
    dated = BY_NOTE
    if meta.created_at is not None:
        created = meta.created_at.timestamp()
    elif (committed := first_commit(note.path)) is not None:
        created, dated = committed, BY_GIT
    else:
        created, dated = _mtime(found), BY_FILE
    return Reading(
        note=note,
        stamp=trusted(found),
        passages=tuple(passages(section) for section in note.body.sections),
        created=created,
        updated=meta.updated_at.timestamp() if meta.updated_at else created,
        dated=dated,
    )


def _mtime(found: Stamp) -> float:
    return found[1] / 1e9
