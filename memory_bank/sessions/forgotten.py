"""Remove the notes of old sessions, and bring back those of a bank's former id.

A bank's private state is named by its id, which a rewritten first commit changes.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from memory_bank.bank.bank import Bank
from memory_bank.bank.bank_id import former_ids, move_state
from memory_bank.base.errors import NoteNotFound, StorageFailed
from memory_bank.base.operation import Param, operation
from memory_bank.search.manifest.entries import session_id_of
from memory_bank.search.times import moment
from memory_bank.sessions import queue_rows, shown
from memory_bank.sessions.answers import SCHEMA_VERSION, Pruned, Recovered
from memory_bank.sessions.note_format import FOLDER
from memory_bank.sessions.queue import EventQueue
from memory_bank.sessions.state import IndexedNotes, opened


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


@operation(
    "session recover",
    why="""
    The private state of a bank is named by the first commit of its repository. If that was
    rewritten (`git filter-repo`, `git commit --amend` of it), notes of former sessions are no
    longer found. This moves them, and what waits of these sessions, to the place of the others.
    Only do it if the sessions that `doctor` names are of this project.
    """,
    examples=(("memory-bank session recover", "bring back the sessions that `doctor` names"),),
    show=shown.recovered,
)
def recover(bank: Bank) -> Recovered:
    """Bring back sessions after a rewrite of the first commit.

    Move the notes of sessions and what waits of them from former ids of the bank's folder.

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
                for session_id in queue_rows.forgotten(before.parent):
                    queue_rows.add_forgotten(queue.file.parent, session_id)
                queue.take_over(before.parent)
                move_state(bank.layout, one, bank.id)
            except OSError as error:
                raise StorageFailed(
                    f"{before} can't be moved: {error.strerror}", "move the files yourself"
                ) from error
            left = [str(file) for file in had if file.exists()]
            notes += len(had) - len(left)
            kept += left
        for session_id in queue_rows.forgotten(queue.file.parent) if ids else ():
            queue.remove_session(session_id)  # forgotten here, but not under the former id
        queue.close()
    if ids:
        bank.catch_up()
    return Recovered(SCHEMA_VERSION, tuple(ids), notes, tuple(kept))


@operation(
    "session prune",
    why="""
    Moves the private notes of sessions to the trash to which nothing was added since a time, and
    removes what waits of them. `trash empty` deletes them for good, `restore` brings them back.
    Notes in the project's own folder stay.
    """,
    examples=(
        ("memory-bank session prune --older 90d --dry-run", "show what would be removed"),
        ("memory-bank session prune --older 90d", "sessions of the last three months stay"),
    ),
    show=shown.pruned,
)
def prune(
    bank: Bank,
    older: Annotated[
        str | datetime, Param("Older than this: 90d, 2026-05-08", metavar="WHEN", only=str)
    ],
    *,
    dry_run: Annotated[bool, Param("Show what would be done, but change nothing")] = False,
) -> Pruned:
    """Move the notes of old sessions to the trash.

    Move the private notes of sessions to the trash that nothing was added to since a time.

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
