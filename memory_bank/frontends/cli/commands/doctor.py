"""`memory-bank doctor`: look a bank over."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memory_bank import actions
from memory_bank.frontends.cli.call import FAILED, FOUND, Call
from memory_bank.frontends.cli.command import as_command
from memory_bank.frontends.cli.console import Piece, place
from memory_bank.frontends.rendering import count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memory_bank.actions.doctor import Health

GROUP = "Look after"


@as_command(
    "doctor",
    why="""
    Checks the index against the files and repairs it, then lists what is left to you: files that
    are not indexed, each with the reason; front matter that could not be read as it stands; broken
    links; ids that several notes claim; secrets in notes, by kind and line. It changes no note.
    """,
    examples=(
        ("memory-bank doctor", "what is wrong, if anything"),
        ("memory-bank doctor --check", "for CI: exit code 3 unless all is well"),
        ("memory-bank doctor --json | jq .unindexed", "for a program"),
    ),
)
@click.option("--check", is_flag=True, help="Exit with 3 unless all is well")
def command(call: Call, *, check: bool) -> int:
    """List what is wrong with a bank, and repair its index."""
    with call.open() as bank:
        health = actions.doctor.doctor(bank, call.progress)
    call.answer(health, lambda health: _show(call, health))
    return FAILED if check and not health.healthy else FOUND


def _show(call: Call, health: Health) -> None:
    page = call.page
    page.line(
        (place(health.bank), "bold"),
        f": {count(health.notes, 'note')}, {count(health.passages, 'passage')}",
        f", embedder {health.embedder}",
    )
    _list(
        call,
        "not indexed",
        [((call.place(file.path), "place"), f"  {file.reason}") for file in health.unindexed],
    )
    _list(
        call,
        "read with faults",
        [
            ((call.place(fault.path, fault.line), "place"), f"  {fault.reason}")
            for fault in health.faults
        ],
    )
    _list(
        call,
        "broken links",
        [
            ((call.place(link.source, link.line), "place"), f"  {link.problem}")
            for link in health.broken_links
        ],
    )
    _list(
        call,
        "odd names, read all the same",
        [((call.place(file.path), "place"), f"  {file.reason}") for file in health.odd_names],
    )
    _list(
        call,
        "same id in several notes",
        [
            (f"{duplicates.note_id}  ", (", ".join(map(call.place, duplicates.paths)), "place"))
            for duplicates in health.same_ids
        ],
    )
    _list(
        call,
        "secrets in notes",
        [
            ((call.place(one.path, one.line), "place"), f"  {one.kind} (hash {one.hash})")
            for one in health.secrets
        ],
    )
    call.show_repaired(health.repaired)
    if health.waiting:
        page.line(("waiting: ", "warn"), f"{count(health.waiting, 'passage')} without a vector")
    if health.problem:
        page.line(("problem: ", "bad"), health.problem)
    if health.left_alone:
        page.line(("index: ", "warn"), (place(health.index), "place"), f": {health.left_alone}")
    if health.polling:
        page.line(("polling: ", "warn"), health.polling)
    if health.git:
        page.line(("git: ", "warn"), f"{health.git}; dates are those of files")
    if health.healthy:
        page.line(("all is well", "good"))


def _list(call: Call, heading: str, rows: Sequence[Sequence[Piece]]) -> None:
    if rows:
        call.page.line((f"{heading} ({len(rows)}):", "bad"))
    for row in rows:
        call.page.line("  ", *row)
