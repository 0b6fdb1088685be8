"""Dates that have not come yet."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from memory_bank.config import Settings
from memory_bank.lint.base import Place
from memory_bank.notes.dates import iso, to_datetime
from memory_bank.notes.note_text import NoteText
from memory_bank.notes.schema import keys_of

SUMMARY = "a note says that it was created or updated in the future"
SEVERITY = "warning"
_ZONES = timedelta(hours=14)
"""So much earlier is a date than in UTC where it comes first."""


def check_note(note: NoteText, _: Settings) -> Iterator[Place]:
    """Yield each such date; a date of today in any time zone is none."""
    limit = datetime.now(UTC) + _ZONES
    for name in ("created_at", "updated_at", "verified_at") if note.head else ():
        for key in keys_of(note.keys, name):
            moment = to_datetime(note.keys[key])
            if moment is not None and moment > limit:
                message = f"{key} is in the future: {iso(moment)}"
                yield Place(note.path, note.key_line(key), message, "write the day on which it was")
