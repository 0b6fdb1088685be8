"""The output of commands that change a note."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory_bank.base.screen import Call
from memory_bank.notes.names import name_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memory_bank.bank.backlinks import LinkShown
    from memory_bank.bank.bank import Bank
    from memory_bank.memory.edit import WrittenNote


def show_written(call: Call, done: WrittenNote, verb: str = "changed") -> None:
    """Print whether a note was changed, and any warning."""
    call.console.line(f"{verb if done.changed else 'unchanged'} ", (call.place(done.path), "place"))
    call.warn(done.warning)


def ask_whether_amended(call: Call, bank: Bank, path: str, older: str | None) -> None:
    """Say that a note may amend an older one; in a terminal, ask, and link them by the answer."""
    if older is None or call.json:
        return
    link = f"[[{name_of(older)}]]"
    if not (call.interactive and call.console.terminal):
        call.remark(f"may amend {call.place(older)}: if so, add `supersedes:: {link}`")
        return
    import click

    from memory_bank.memory import edit

    call.console.flush()
    replaced = click.confirm(f"Does it replace {call.place(older)}?", err=True)
    relation = "supersedes" if replaced else "related_to"
    show_written(call, edit.append(bank, path, f"- {relation}:: {link}"))


def show_broken(call: Call, links: Sequence[LinkShown] | None) -> None:
    """List the links in included files that a move has broken."""
    if links:
        call.warn("links to the old name stay in files of the project that are only included:")
    for link in links or ():
        call.stderr.line("  ", (call.place(link.source, link.line), "place"))
