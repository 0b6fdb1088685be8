"""`memory-bank restore`: bring deleted notes back."""

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
"""Of a stamp, down to microseconds; it is UTC."""


@as_command(
    "restore",
    why="""
    Without a name, lists what is in the trash, the newest first. With one, brings the newest
    deleted note of that name back to where it was, or to another name with --as.
    """,
    examples=(
        ("memory-bank restore", "what is in the trash"),
        ("memory-bank restore ideas/cache", "back to its place"),
        ("memory-bank restore ideas/cache --as ideas/cache-2", "beside a new one"),
    ),
)
@click.argument("name", required=False)
@click.option("--as", "new", metavar="NEW", default="", help="Under another name")
def command(call: Call, *, name: str | None, new: str) -> int:
    """Bring a deleted note back, or list the trash."""
    if name is None and new:
        raise call.wrong("name the note that --as renames")
    with call.open() as bank:
        if name is None:
            return _list(call, bank)
        path = actions.move_and_merge.restore(bank, name, new)
    if call.json:
        call.document({"path": path})
    else:
        call.page.line("restored ", (call.place(path), "place"))
    return FOUND


def _list(call: Call, bank: Bank) -> int:
    found = actions.move_and_merge.trash(bank)
    if call.json:
        call.document({"result_count": len(found), "trash": found})
    elif found:
        rows = [(note.path.removesuffix(".md"), _when(note.stamp)) for note in found]
        call.page.table(("name", "deleted"), rows)
    else:
        call.remark("the trash is empty")
    return FOUND if found else NOTHING


def _when(stamp: str) -> str:
    """Return the moment of a folder of the trash, in local time."""
    try:
        moment = datetime.strptime(stamp[:_DIGITS], _STAMP).replace(tzinfo=UTC)
    except ValueError:
        return stamp  # a folder that somebody else made
    return moment.astimezone().isoformat(" ", "minutes")
