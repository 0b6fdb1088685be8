"""`memory-bank trash`: list and empty the trash."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import click

from memory_bank.base.errors import BadInput
from memory_bank.base.operation import Param, operation, topic
from memory_bank.base.rendering import count
from memory_bank.base.screen import FOUND, Call
from memory_bank.frontends.cli.text_input import interactive
from memory_bank.frontends.cli.trash_view import show_trash

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memory_bank.memory.trash import TrashedNote


@operation(
    "trash list",
    why="""
    Lists deleted notes with the time of deletion and the first line, the newest first. restore
    brings one back; its option --version takes the digits of the third column.
    """,
    examples=(
        ("memory-bank trash list", "all deleted notes"),
        ("memory-bank trash list ideas/cache", "the deleted versions of one note"),
    ),
)
def _list(
    call: Call, *, name: Annotated[str | None, Param(argument=True, complete="trashed")] = None
) -> int:
    """List deleted notes, or the deleted versions of one."""
    from memory_bank.memory import trash

    with call.open() as bank:
        found = trash.trash(bank, name or "")
        nothing = f"there is no {name!r} in the trash" if name else "the trash is empty"
        return show_trash(call, found, nothing)


@operation(
    "trash empty",
    why="""
    Deletes notes in the trash for good, after a question; nothing brings them back, unless git has
    them. Files that another program put into `.memories/.trash/` stay.
    """,
    examples=(
        ("memory-bank trash empty --older-than 30d", "what was deleted more than 30 days ago"),
        ("memory-bank trash empty --yes", "everything, without a question"),
    ),
)
def _empty(
    call: Call,
    *,
    older: Annotated[
        str | None,
        Param(
            "Delete only what was moved there before: 30d, 2w, 2026-05-08",
            flags="--older-than",
            metavar="WHEN",
        ),
    ] = None,
    yes: Annotated[bool, Param("Delete without asking")] = False,
) -> int:
    """Delete the notes in the trash for good."""
    from memory_bank.memory import trash

    with call.open() as bank:
        found = trash.to_empty(bank, older)
        agreed = not found or yes or _agreed(call, found)
        gone = trash.empty_trash(bank, before=older) if found and agreed else []
    if call.json:
        call.document({"result_count": len(gone), "emptied": gone})
    elif gone:
        call.console.line(f"deleted {count(len(gone), 'note')} for good")
    elif found:
        call.remark("nothing was deleted")
    else:
        call.remark("the trash is empty" if older is None else "nothing in the trash is that old")
    return FOUND


def _agreed(call: Call, found: Sequence[TrashedNote]) -> bool:
    what = count(len(found), "note")
    if call.json or not interactive():
        raise BadInput(
            f"{what} in the trash would be deleted for good, but confirmation needs a terminal",
            "add --yes to delete without a question",
        )
    oldest = found[-1].deleted_at[:10]
    call.stderr.flush()
    return click.confirm(f"Delete {what} for good, deleted since {oldest}?", err=True)


topic(
    "trash",
    "List and empty the trash.",
    group="Organise",
    why="""
    rm moves notes to the trash, `.memories/.trash/`, which git ignores; so do merge, for its
    sources, and an import, for notes that it replaces. restore brings them back.
    """,
    examples=(("memory-bank trash empty --older-than 30d", "delete old ones for good"),),
)
