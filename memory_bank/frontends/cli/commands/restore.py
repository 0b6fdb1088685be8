"""`memory-bank restore`: list the trash, and restore deleted notes."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from memory_bank import actions
from memory_bank.frontends.cli.call import FOUND, NOTHING, Call
from memory_bank.frontends.cli.command import as_command

if TYPE_CHECKING:
    from memory_bank.bank import Bank

GROUP = "Organise"

_STAMP = "%Y%m%d%H%M%S%f"
_DIGITS = 20
"""Digits of a time stamp in UTC, to the microsecond."""


@as_command(
    "restore",
    why="""
    Without a name, lists the trash, the newest first. With a name, restores the most recently
    deleted note of that name, under the same name or under another with --as.
    """,
    examples=(
        ("memory-bank restore", "list the trash"),
        ("memory-bank restore ideas/cache", "under its old name"),
        ("memory-bank restore ideas/cache --as ideas/cache-2", "under another name"),
    ),
)
@click.argument("name", required=False)
@click.option("--as", "new", metavar="NEW", default="", help="Restore it under another name")
def command(call: Call, *, name: str | None, new: str) -> int:
    """Restore a deleted note, or list the trash."""
    if name is None and new:
        raise call.usage_error("--as needs the name of a deleted note")
    with call.open() as bank:
        if name is None:
            return _list(call, bank)
        path = actions.move_and_merge.restore(bank, name, new)
    if call.json:
        call.document({"path": path})
    else:
        call.console.line("restored ", (call.place(path), "place"))
    return FOUND


def _list(call: Call, bank: Bank) -> int:
    found = actions.move_and_merge.trash(bank)
    if call.json:
        call.document({"result_count": len(found), "trash": found})
    elif found:
        rows = [(note.path.removesuffix(".md"), _when(note.stamp)) for note in found]
        call.console.table(("name", "deleted"), rows)
    else:
        call.remark("the trash is empty")
    return FOUND if found else NOTHING


def _when(stamp: str) -> str:
    """Return the time in the name of a trash folder, in local time."""
    try:
        moment = datetime.strptime(stamp[:_DIGITS], _STAMP).replace(tzinfo=UTC)
    except ValueError:
        return stamp  # a folder that another program made
    return moment.astimezone().isoformat(" ", "minutes")
