"""`memory-bank mv`: rename a note."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from memory_bank.base.operation import Agent, Note, Param, operation
from memory_bank.base.screen import Call
from memory_bank.frontends.cli.change_view import show_broken

if TYPE_CHECKING:
    from memory_bank.memory.move_and_merge import Renamed


@operation(
    "mv",
    why="""
    Moves the file and rewrites the links to it in all notes, all or nothing. A new name that ends
    in a slash is a folder.
    """,
    examples=(
        ("memory-bank mv whoosh decisions/2025-whoosh", "another name"),
        ("memory-bank mv ideas/cache archive/", "into a folder"),
    ),
    group="Organise",
    allow_secret=True,
)
def command(
    call: Call,
    *,
    name: Note,
    new: Annotated[str, Param(argument=True, metavar="NEW")],
    agent: Agent = None,
) -> int:
    """Rename a note, and rewrite links to it."""
    from memory_bank.memory import move_and_merge

    def render(done: Renamed) -> None:
        console = call.console
        if done.path == done.old_path:
            console.line((call.place(done.path), "place"), " already has that name")
            return
        console.line(
            "moved ", (call.place(done.old_path), "place"), " to ", (call.place(done.path), "place")
        )
        for path in done.relinked:
            console.line("  links changed in ", (call.place(path), "place"))
        show_broken(call, done.broken_links)
        call.warn(done.warning)

    with call.open() as bank:
        call.answer(move_and_merge.rename(bank, name, new, agent=agent), render)
    return 0
