"""`memory-bank merge`: merge several notes into one."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

from memory_bank.base.operation import Agent, Notes, Param, Tags, operation
from memory_bank.base.screen import Call
from memory_bank.frontends.cli import text_input
from memory_bank.frontends.cli.change_view import show_broken

if TYPE_CHECKING:
    from memory_bank.bank.bank import Bank
    from memory_bank.memory.move_and_merge import Merged


@operation(
    "merge",
    why="""
    Writes the target with the given text, moves the sources to the trash and redirects links to
    them to the target, all or nothing. The target gets the sources' tags and references. It may
    be one of the sources; its old text is then moved to the trash too.

    Without --text the text is read from a pipe, or edited in $VISUAL or $EDITOR, starting with
    the texts of all sources.
    """,
    examples=(
        ("memory-bank merge retry-1 retry-2 --into facts/retries", "in your editor"),
        ("memory-bank merge a b --into a --text '# One note'", "into one of them"),
        ("memory-bank merge a b --into c --tags http < c.md", "from a file"),
    ),
    group="Organise",
    allow_secret=True,
)
def command(
    call: Call,
    *,
    sources: Annotated[Notes, Param(metavar="SOURCE...")],
    target: Annotated[
        str, Param("The merged note", flags="--into", metavar="TARGET", complete="notes")
    ],
    text: Annotated[str | None, Param("Its text; - reads stdin", metavar="TEXT")] = None,
    tags: Annotated[Tags, Param("Tags besides those of the sources")] = (),
    agent: Agent = None,
) -> int:
    """Merge several notes into one and redirect links to it."""
    from memory_bank.memory import move_and_merge

    with call.open() as bank:
        source = "manual" if agent is None else "agent"
        merged = partial(
            move_and_merge.merge,
            bank,
            tags=tags,
            source_type=source,
            source_agent=agent or "",
        )
        paths = list(dict.fromkeys(move_and_merge.check_movable(bank, name) for name in sources))
        content = text_input.given(text)
        if content is not None:
            done = merged(paths, target, content)
        else:
            with text_input.editing("merged.md", _joined(bank, paths)) as written:
                done = merged(paths, target, written)
    call.answer(done, lambda done: _show(call, done))
    return 0


def _joined(bank: Bank, paths: list[str]) -> str:
    from memory_bank.memory import show

    return "\n".join(f"{show.show(bank, path).body.strip()}\n" for path in paths)


def _show(call: Call, done: Merged) -> None:
    console = call.console
    for path in done.merged:
        if path != done.path:
            console.line("merged ", (call.place(path), "place"))
    console.line("into ", (call.place(done.path), "place"), f" (id {done.note_id})")
    for path in done.relinked:
        console.line("  links changed in ", (call.place(path), "place"))
    show_broken(call, done.broken_links)
    call.warn(done.warning)
