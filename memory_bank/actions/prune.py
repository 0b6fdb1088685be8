"""Remove the notes of old sessions from this machine."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from memory_bank.actions.session_state import IndexedNotes, opened
from memory_bank.bank import Bank
from memory_bank.errors import NoteNotFound
from memory_bank.manifest.entries import session_id_of
from memory_bank.search.periods import moment

SCHEMA_VERSION = "1.0"


@dataclass(frozen=True, slots=True)
class Pruned:
    """The sessions that were removed, or would be."""

    schema_version: str
    count: int
    sessions: tuple[str, ...]
    """Their ids."""
    paths: tuple[str, ...]
    """Their notes, which are in the trash."""
    kept: int
    """Old sessions whose notes are in the project's own folder: these stay."""
    done: bool
    """False if nothing was changed."""


def prune(bank: Bank, older: str | datetime, *, dry_run: bool = False) -> Pruned:
    """Move the private notes of sessions to the trash that nothing was added to since a time.

    What waits of these sessions is removed from the queue. Notes in the project's own folder stay.
    Raises BadInput for a wrong time.
    """
    limit = (older if isinstance(older, datetime) else moment(older)).astimezone(UTC).timestamp()
    rows = [row for row in IndexedNotes(bank).rows() if max(row.created, row.updated) < limit]
    private = [row for row in rows if bank.roots.is_private(row.key)]
    for row in () if dry_run else private:
        try:
            bank.store.delete(row.key)
        except NoteNotFound:
            continue  # another process was faster
        with opened(bank) as store:
            store.queue.remove_session(session_id_of(row))
    if private and not dry_run:
        bank.catch_up()
    return Pruned(
        schema_version=SCHEMA_VERSION,
        count=len(private),
        sessions=tuple(map(session_id_of, private)),
        paths=tuple(row.key for row in private),
        kept=len(rows) - len(private),
        done=not dry_run,
    )
