"""Bring back the sessions that a bank's folder had under a former id.

A bank's private state is named by its id, which a rewritten first commit changes.
"""

from __future__ import annotations

from dataclasses import dataclass

from memory_bank.activity.bank_identity import former_ids, move_state
from memory_bank.bank import Bank
from memory_bank.errors import StorageFailed
from memory_bank.sessions import forgotten_sessions
from memory_bank.sessions.note_names import FOLDER
from memory_bank.sessions.queue import EventQueue

SCHEMA_VERSION = "1.0"


@dataclass(frozen=True, slots=True)
class Recovered:
    """The former ids whose sessions are the bank's now."""

    schema_version: str
    ids: tuple[str, ...]
    notes: int
    """Number of notes that were moved."""
    kept: tuple[str, ...]
    """Files that stay in the former state, since the bank has others of these paths."""


def former_state(bank: Bank) -> str:
    """Say that this folder has sessions under another id; empty if it has none."""
    ids = former_ids(bank.layout, bank.id)
    if not ids:
        return ""
    folders = ", ".join(str(bank.layout.state(one)) for one in ids)
    return (
        "this folder had another id, because its repository's first commit was rewritten or it was"
        f" another repository; sessions of that time are in {folders}"
    )


def recover(bank: Bank) -> Recovered:
    """Move the notes of sessions and what waits of them from former ids of the bank's folder.

    A note that the bank has, too, stays where it is. Raises StorageFailed.
    """
    ids = former_ids(bank.layout, bank.id)
    notes, kept = 0, list[str]()
    with bank.lock, bank.store.writing(f"{FOLDER}/recovered.md"):
        queue = EventQueue(bank.layout.state(bank.id))
        for one in ids:
            before = bank.layout.state(one) / "notes"
            had = list(before.rglob("*.md"))
            try:
                for session_id in forgotten_sessions.ids(before.parent):
                    forgotten_sessions.add(queue.file.parent, session_id)
                queue.take_over(before.parent)
                move_state(bank.layout, one, bank.id)
            except OSError as error:
                raise StorageFailed(
                    f"{before} can't be moved: {error.strerror}", "move the files yourself"
                ) from error
            left = [str(file) for file in had if file.exists()]
            notes += len(had) - len(left)
            kept += left
        for session_id in forgotten_sessions.ids(queue.file.parent) if ids else ():
            queue.remove_session(session_id)  # forgotten here, but not under the former id
        queue.close()
    if ids:
        bank.catch_up()
    return Recovered(SCHEMA_VERSION, tuple(ids), notes, tuple(kept))
