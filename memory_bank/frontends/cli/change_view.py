"""The output of commands that change a note."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory_bank.frontends.cli.call import Call

if TYPE_CHECKING:
    from memory_bank.actions.edit import Written


def show_written(call: Call, done: Written, verb: str = "changed") -> None:
    """Print whether a note was changed, and any warning."""
    call.console.line(f"{verb if done.changed else 'unchanged'} ", (call.place(done.path), "place"))
    call.warn(done.warning)
