"""The list of deleted notes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from memory_bank.base.screen import FOUND, NOTHING, Call

if TYPE_CHECKING:
    from memory_bank.memory.trash import TrashedNote


_TO_THE_SECOND = 14
"""Digits of a version that usually tell it from all others of a note."""


def show_trash(call: Call, found: Sequence[TrashedNote], nothing: str) -> int:
    """Print deleted notes with the versions that restore takes; return the exit code."""
    if call.json:
        call.document({"result_count": len(found), "trash": found})
    elif found:
        rows = [
            (note.path.removesuffix(".md"), _when(note), _short(note, found), note.first_line)
            for note in found
        ]
        call.console.table(("name", "deleted", "version", "first line"), rows)
    else:
        call.remark(nothing)
    return FOUND if found else NOTHING


def _when(note: TrashedNote) -> str:
    """Return when a note was deleted, in local time."""
    if not note.deleted_at:
        return "-"
    moment = datetime.fromisoformat(note.deleted_at)
    return moment.astimezone().isoformat(" ", "minutes")


def _short(note: TrashedNote, found: Sequence[TrashedNote]) -> str:
    """Return the first digits of a version that no other version of the note starts with."""
    short = note.version[:_TO_THE_SECOND]
    same = [other for other in found if other.path == note.path and other.version.startswith(short)]
    return short if len(same) == 1 else note.version
