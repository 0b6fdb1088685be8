"""Name banks, so that they are found by name in any folder."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

from memory_bank.bank import config_file
from memory_bank.bank.config_file import with_setting, without_setting
from memory_bank.base import paths, settings
from memory_bank.base.errors import BadInput, BadName, Hint, MemoryBankError
from memory_bank.base.operation import Param, operation, topic
from memory_bank.base.paths import NamedBank
from memory_bank.base.rendering import named
from memory_bank.base.screen import FOUND, NOTHING, Call, place

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,63}")


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


def _listed(call: Call, found: Sequence[NamedBank]) -> int:
    from memory_bank.bank import agent_memories

    memories = agent_memories.of_folder(Path.cwd())
    if call.json:
        known = [one._asdict() | {"paths": sorted(one.paths or ())} for one in memories]
        call.document({"result_count": len(found), "banks": found, "agents": known})
    elif found:
        call.console.table(
            ("name", "folder", ""),
            [(named(one.name), named(one.path), _remark(one)) for one in found],
        )
    else:
        call.remark("no bank has a name: see `memory-bank banks add -h`")
    for one in memories if not call.json else ():
        agent, of_all = one.agent.removesuffix(agent_memories.GLOBAL), one.is_of_all
        whose = "all projects" if of_all else "this project"
        said = f"{agent}'s own memory of {whose}, yours alone: "
        call.console.line(said, (place(one.folder), "place"))
        for remark in one.remarks():
            call.remark(remark)
    return FOUND if found or memories else NOTHING


def _remark(one: NamedBank) -> str:
    if not one.exists:
        return "missing"
    return "your own" if one.own else ""


def _added(call: Call, one: NamedBank) -> None:
    call.answer(
        one, lambda one: call.console.line(f"added {one.name}: ", (place(one.path), "place"))
    )
    if not call.json:
        call.console.line("next: ", (f"memory-bank recall --bank {one.name} WORDS", "bold"))


def _removed(call: Call, one: NamedBank) -> None:
    said = f"removed the name {one.name}; the folder stays: "
    call.answer(one, lambda one: call.console.line(said, (place(one.path), "place")))


def _names(start: str) -> list[str]:
    try:
        found = paths.banks()
    except MemoryBankError:
        return []  # a shell can't show errors during completion
    return [one.name for one in found if one.name.startswith(start) and not one.own]


@operation(
    "banks list",
    why="""
    Lists the banks that --bank accepts by name: those that you added, and those that
    `memory-bank init --user` made in your data folder; and the memories that agents' programs keep
    of the project here (`recall --include agents` searches them), or of all (`--include global`).
    """,
    examples=(("memory-bank banks", "the same"),),
    show=_listed,
)
def named_banks() -> Sequence[NamedBank]:
    """List the banks that have a name."""
    return paths.banks()


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
    show=_added,
)
def add(
    name: Annotated[str, Param(argument=True, metavar="NAME")],
    path: Annotated[str | Path, Param(argument=True, metavar="PATH", path="folder", only=str)],
) -> NamedBank:
    """Name a folder of notes, or a project with a bank.

    Name a folder of notes, or a project with a bank, in the user's settings.

    Nothing is written to the folder. Raises BadName, BadInput if the name is that of another bank
    or there is no such folder, BadSetting if the settings can't be changed.
    """
    if not _NAME.fullmatch(name):
        raise BadName(f"{name!r} can't name a bank", "use letters, digits, '-' and '_'")
    folder = Path(path).expanduser().resolve()
    if not folder.is_dir():
        raise BadInput(f"{folder} is not a folder", Hint.MAKE_FOLDER)
    paths.check_free(name, folder)
    try:
        str(folder).encode()
    except UnicodeEncodeError as error:
        raise BadInput(f"the path of {name!r} is no UTF-8 text", "move the folder") from error
    _change(lambda text: with_setting(text, settings.BANKS, name, str(folder)))
    return NamedBank(name, str(folder), own=False, exists=True)


@operation(
    "banks remove",
    why="Removes the name from your own settings. The folder and its notes stay.",
    examples=(("memory-bank banks remove vault", "forget the name"),),
    show=_removed,
)
def remove(
    name: Annotated[str, Param(argument=True, metavar="NAME", complete=_names)],
) -> NamedBank:
    """Forget the name of a bank; its folder stays.

    Remove a name from the user's settings; the folder stays. Raises BadInput, BadSetting.
    """
    path = paths.added().get(name)
    if path is None and (own := paths.own().get(name)):
        raise BadInput(
            f"{name!r} was not added: it is a bank of your own, {own}",
            "delete that folder to remove the bank with its notes",
        )
    if path is None:
        raise BadInput(f"there is no bank {name!r}", Hint.LIST_BANKS)
    _change(lambda text: without_setting(text, settings.BANKS, name))
    return NamedBank(name, str(path), own=False, exists=path.is_dir())


def _change(edit: Callable[[str], str]) -> None:
    """Change the text of the user's settings; every other character stays."""
    file = settings.user_file(os.environ)
    settings.read_file(file)  # raises BadSetting
    config_file.change(file.resolve(), edit)
