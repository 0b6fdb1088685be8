"""The output of commands that change a note."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory_bank.base.screen import Call

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memory_bank.bank.backlinks import LinkShown
    from memory_bank.memory.edit import WrittenNote


def show_written(call: Call, done: WrittenNote, verb: str = "changed") -> None:
    """Print whether a note was changed, and any warning."""
    call.console.line(f"{verb if done.changed else 'unchanged'} ", (call.place(done.path), "place"))
    call.warn(done.warning)


def show_broken(call: Call, links: Sequence[LinkShown] | None) -> None:
    """List the links in included files that a move has broken."""
    if links:
        call.warn("links to the old name stay in files of the project that are only included:")
    for link in links or ():
        call.stderr.line("  ", (call.place(link.source, link.line), "place"))
