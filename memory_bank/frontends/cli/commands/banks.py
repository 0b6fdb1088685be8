"""`memory-bank banks`: name banks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from memory_bank.base.errors import MemoryBankError
from memory_bank.base.operation import Param, operation, topic
from memory_bank.base.rendering import named
from memory_bank.base.screen import FOUND, NOTHING, Call, place

if TYPE_CHECKING:
    from memory_bank.base.paths import NamedBank


@operation(
    "banks list",
    why="""
    Lists the banks that --bank accepts by name: those that you added, and those that
    `memory-bank init --user` made in your data folder.
    """,
    examples=(("memory-bank banks", "the same"),),
)
def _list(call: Call) -> int:
    """List the banks that have a name."""
    from memory_bank.base import paths

    found = paths.banks()
    if call.json:
        call.document({"result_count": len(found), "banks": found})
    elif found:
        call.console.table(
            ("name", "folder", ""),
            [(named(one.name), named(one.path), _remark(one)) for one in found],
        )
    else:
        call.remark("no bank has a name: see `memory-bank banks add -h`")
    return FOUND if found else NOTHING


def _remark(one: NamedBank) -> str:
    if not one.exists:
        return "missing"
    return "your own" if one.own else ""


@operation(
    "banks add",
    why="""
    Writes the name into your own settings, below [banks]. The folder may be any folder of Markdown
    files, such as a vault, or a project with a bank; nothing is written to it. A name precedes a
    folder of that name in the working directory, which is `--bank ./NAME`.
    """,
    examples=(
        ("memory-bank banks add vault ~/Documents/vault", "name a folder of notes"),
        ("memory-bank recall --bank vault sourdough", "search it from anywhere"),
        ("memory-bank mcp install --client claude-code --bank vault --name vault", "for an agent"),
    ),
)
def _add(
    call: Call,
    *,
    name: Annotated[str, Param(argument=True, metavar="NAME")],
    path: Annotated[str, Param(argument=True, metavar="PATH", path="folder")],
) -> int:
    """Name a folder of notes, or a project with a bank."""
    from memory_bank.bank import bank_names

    def render(one: NamedBank) -> None:
        call.console.line(f"added {one.name}: ", (place(one.path), "place"))
        call.console.line("next: ", (f"memory-bank recall --bank {one.name} WORDS", "bold"))

    call.answer(bank_names.add(name, path), render)
    return FOUND


def _names(start: str) -> list[str]:
    from memory_bank.base import paths

    try:
        found = paths.banks()
    except MemoryBankError:
        return []  # a shell can't show errors during completion
    return [one.name for one in found if one.name.startswith(start) and not one.own]


@operation(
    "banks remove",
    why="Removes the name from your own settings. The folder and its notes stay.",
    examples=(("memory-bank banks remove vault", "forget the name"),),
)
def _remove(
    call: Call, *, name: Annotated[str, Param(argument=True, metavar="NAME", complete=_names)]
) -> int:
    """Forget the name of a bank; its folder stays."""
    from memory_bank.bank import bank_names

    def render(one: NamedBank) -> None:
        call.console.line(
            f"removed the name {one.name}; the folder stays: ", (place(one.path), "place")
        )

    call.answer(bank_names.remove(name), render)
    return FOUND


topic(
    "banks",
    "List, name and forget banks.",
    group="Look after",
    why="""
    A bank can be any folder of Markdown files. With a name, it is found in any working directory:
    `--bank NAME`, or MEMORY_BANK=NAME. Without a subcommand, lists the names.
    """,
    examples=(
        ("memory-bank banks", "list them"),
        ("memory-bank banks add vault ~/Documents/vault", "name a folder"),
    ),
    default="banks list",
    options=True,
)
