"""`memory-bank archive`: exclude notes from results without deleting them."""

from __future__ import annotations

from typing import Annotated

from memory_bank.base.operation import Notes, Param, operation
from memory_bank.base.screen import Call
from memory_bank.frontends.cli.change_view import show_written


@operation(
    "archive",
    why="""
    An archived note keeps its path and its links, but recall and notes exclude it unless
    --include-archived is given. Its front matter gets the line `status: archived`, or
    `archived: true` if it has a status already. --undo removes that line again.
    """,
    examples=(
        ("memory-bank archive plans/2024 plans/2025", "two old plans"),
        ("memory-bank archive --undo plans/2025", "make one active again"),
    ),
    group="Organise",
)
def command(
    call: Call, *, names: Notes, undo: Annotated[bool, Param("Make them active again")] = False
) -> int:
    """Exclude notes from results without deleting them."""
    from memory_bank.memory import edit

    status = "active" if undo else "archived"
    with call.open() as bank:
        paths = dict.fromkeys(bank.find(name, exactly=True) for name in names)
        done = [edit.set_status(bank, path, status) for path in paths]
    if call.json:
        call.document({"status": status, "notes": done})
    for note in () if call.json else done:
        show_written(call, note, "active again:" if undo else "archived")
    return 0
