"""`memory-bank init`: create a bank, and set up the agents' programs that this user has."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from memory_bank.agents import client_files, clients
from memory_bank.agents.client_files import Program, find_bundle_file
from memory_bank.agents.setup_commands import PARTS, join_steps, list_parts, plan_change
from memory_bank.bank import setup
from memory_bank.bank.bank import Bank, open_bank
from memory_bank.bank.embedder_choice import multilingual_hint
from memory_bank.bank.setup import IncludeCandidate, MadeBank
from memory_bank.base import NamedTuple
from memory_bank.base.errors import BadInput, MemoryBankError
from memory_bank.base.filenames import SETTINGS
from memory_bank.base.operation import Param, operation
from memory_bank.base.rendering import count, quote_path, render_document
from memory_bank.base.screen import Call, show_place
from memory_bank.git import repository

_COMMANDS = {"claude-code": "claude", "vscode": "code"}
"""Programs that are not started by the name of the client."""


_PARTS = frozenset(["hooks", "plugins"])
"""Folders of a program that are made only for its first hook."""


class AgentSetUp(NamedTuple):
    """What was done for one program."""

    name: str
    title: str
    written: tuple[str, ...]
    """The files that changed."""
    next_step: str
    """The steps of the user before the program uses it; empty if nothing changed."""
    problem: str = ""
    """Why a part of it was not done."""


def list_agents(project: Path | None = None) -> dict[str, list[str]]:
    """Return the programs that are installed, or have a folder of the user's, with their files.

    These are the user's own files to which hooks and the server would be added; they may be one.
    What the bundle of a `project` gives is left out of them.
    """
    files = {name: _find_files(name, project) for name in clients.list_installable()}
    return {name: places for name, places in files.items() if places is not None}


def set_up(bank: Bank | None, name: str) -> AgentSetUp:
    """Add hooks and the server to the user's own files of a program; all else in them stays.

    What can't be done is a problem of the answer. `agents remove` leaves no byte of it.
    """
    written: dict[str, None] = {}
    steps: list[str] = []
    problems: list[str] = []
    for part in list_parts(name):
        try:
            change = plan_change(bank, name, part)
            change.write()
        except MemoryBankError as error:
            problems.append(error.message)
            continue
        if change.changed:
            written[str(change.file)] = None
            steps.append(change.client.next_user)
    return AgentSetUp(
        name, _find_title(name), tuple(written), join_steps(steps), "; ".join(problems)
    )


def _find_files(name: str, project: Path | None) -> list[str] | None:
    """Return the user's own files of a program; None if this user does not have it."""
    files = {
        part: client_files.user_file(program) for part, program in _list_programs(name).items()
    }
    untracked = [
        str(file) for part, file in files.items() if not find_bundle_file(name, part, project)
    ]
    home = {Path.home(), Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")}
    places = [file.parent for file in files.values() if file.parent not in home]
    folders = [path.parent if path.name in _PARTS else path for path in places]
    if not (any(path.is_dir() for path in folders) or shutil.which(_COMMANDS.get(name, name))):
        return None
    return list(dict.fromkeys(untracked))


def _find_title(name: str) -> str:
    return next(program.title for program in _list_programs(name).values())


def _list_programs(name: str) -> dict[str, Program]:
    """Return how the parts of a client are set up that it has."""
    parts = (PARTS[part] for part in list_parts(name))
    return {part: client_files.describe_part(name, part) for part in parts}


_REMEMBER = 'remember "what should be known later"'


@operation(
    "init",
    why="""
    Creates `.memories/` with a settings file that sets nothing, and a `.gitignore`
    for derived and private files. Both belong in git. Existing files are not changed.

    On a terminal, asks two things. Whether to include what the project has: folders of decision
    records, CLAUDE.md, AGENTS.md, rules and memories of agents, a vault of Obsidian. They are then
    found and linked like notes, but stay where they are and are read-only; --include names one,
    also in an existing bank, and sets memory.include in its settings. And whether to add hooks and
    the MCP server to your own files of the agents' programs that you have. Every file that is
    written is listed. Without a terminal nothing but .memories/ is made; --yes agrees to all of it,
    and --no-agents leaves the programs alone.

    With --user the bank is created in your own data folder instead: for notes that belong to no
    project, or to a project whose repository you can't change. Use it with `--bank DIR`.
    """,
    examples=(
        ("memory-bank init", "in the working directory"),
        ("memory-bank init --yes", "with all that is there, without a question"),
        ("memory-bank init --include docs/adr --include CLAUDE.md", "with what is there"),
        ("memory-bank init ~/work/shop", "in another project"),
        ("memory-bank init --user recipes", "a bank of your own"),
    ),
    group="Start",
)
def init(
    call: Call,
    *,
    folder: Annotated[str | None, Param(argument=True, metavar="[DIR]", path="folder")] = None,
    user: Annotated[str, Param("Create a bank of your own, of this name", metavar="NAME")] = "",
    include: Annotated[
        tuple[str, ...],
        Param("Include this folder or file of the project; repeatable", metavar="PATH", path="any"),
    ] = (),
    here: Annotated[bool, Param("Create it inside a project that has a bank already")] = False,
    yes: Annotated[bool, Param("Include what is found, and set up agents, unasked")] = False,
    no_agents: Annotated[bool, Param("Leave agents' programs alone")] = False,
) -> int:
    """Create a bank in a project, or one of your own."""
    if user and folder:
        raise call.usage_error("give a folder or --user NAME, not both")
    if not (user or here):
        _check_enclosing(call, folder)
    asks = not (call.json or user or yes) and call.interactive
    if not (user or include) and (asks or yes):
        include = _choose_included(call, setup.find_candidates(folder), yes=yes)
    bank = setup.init(folder, user=user, include=include)
    set_ups = () if no_agents or user or not (asks or yes) else _set_up_agents(call, bank, yes=yes)

    if call.json:
        call.document({**asdict(bank), "agents": set_ups} if set_ups else bank)
        return 0
    at = (
        f"--bank {shlex.quote(bank.bank if user else show_place(bank.bank))} "
        if user or folder
        else ""
    )
    first = 'recall "why is it like this?"' if bank.included else _REMEMBER
    _show(call, bank, f"memory-bank {at}{first}")
    if not user:
        _warn_of_ignored(call, Path(bank.bank))
    for agent_setup in set_ups:
        _show_agent(call, agent_setup)
    if bank.created and not (user or set_ups):
        call.console.line("for agents: ", ("memory-bank agents install CLIENT", "bold"))
    if bank.created and not user:
        call.console.line("for a team's agents: ", ("memory-bank agents bundle", "bold"))
    if bank.found and not (asks or yes):
        _show_found(call, bank, folder)
    _name_embedder(call, bank)
    return 0


def _show(call: Call, bank: MadeBank, next_: str) -> None:
    verb = "created" if bank.created else "already exists:"
    call.console.line(f"{verb} ", (show_place(bank.bank), "place"))
    for file in bank.created:
        call.console.line("  ", (show_place(file), "place"))
    for path in bank.included:
        call.console.line("  includes ", (quote_path(path), "place"))
    call.console.line("next: ", (next_, "bold"))


def _warn_of_ignored(call: Call, root: Path) -> None:
    """Say that a rule of git, such as one of `.gitignore`, keeps the bank out of clones."""
    tree = repository.find_worktree(root)
    note, settings = root / "note.md", root / SETTINGS
    files = [file for file in (note, settings) if tree and repository.is_ignored(tree, file)]
    if files:
        name = f"the notes in {show_place(root)}" if note in files else show_place(settings)
        call.warn(f"git ignores {name}: no clone has them; change the rule in .gitignore")


def _check_enclosing(call: Call, folder: str | None) -> None:
    """Ask before a bank is made inside a project that has one."""
    enclosing = setup.find_enclosing_bank(folder)
    if not enclosing:
        return
    if call.json or not call.interactive:
        raise BadInput(
            f"this folder is part of a project that has a bank already: {show_place(enclosing)}",
            "use that bank: every command finds it from here; or add --here to make another one",
        )
    call.stderr.line(
        "This folder is part of a project that has a bank: ", (show_place(enclosing), "place")
    )
    if not call.confirm("Make another bank here?"):
        raise KeyboardInterrupt


def _choose_included(
    call: Call, candidates: Sequence[IncludeCandidate], *, yes: bool
) -> tuple[str, ...]:
    """Ask whether to include the files and folders that were found."""
    if not candidates:
        return ()
    paths = tuple(candidate.path for candidate in candidates)
    if yes:
        return paths
    call.stderr.line("This project has:")
    for candidate in candidates:
        many = (
            "" if candidate.path.endswith(".md") else f", {count(candidate.notes, 'Markdown file')}"
        )
        kind = f"  {candidate.kind}{many}" if candidate.kind else many.replace(",", " ")
        call.stderr.line("  ", (quote_path(candidate.path), "place"), kind)
    agreed = call.confirm("Find them as notes, too? They are only read.", default=True)
    return paths if agreed else ()


def _set_up_agents(call: Call, created_bank: MadeBank, *, yes: bool) -> tuple[AgentSetUp, ...]:
    """Ask whether to add hooks and the server to the agents' programs that were found."""
    here = list_agents(Path(created_bank.bank).parent)
    served = [name for name, files in here.items() if not files]
    if served and not call.json:
        titles = ", ".join(map(_find_title, served))
        call.stderr.line(f"This project's bundle sets up {titles}: trust the folder there.")
    configured = {name: files for name, files in here.items() if files}
    if not configured:
        return ()
    if not yes:
        call.stderr.line("These agents are here:")
        for name, files in configured.items():
            call.stderr.line(
                f"  {_find_title(name)}  ", (", ".join(map(show_place, files)), "place")
            )
        if not call.confirm("Add hooks and the MCP server to these files?"):
            return ()
    with open_bank(created_bank.bank) as bank:
        return tuple(set_up(bank, name) for name in configured)


def _name_embedder(call: Call, created_bank: MadeBank) -> None:
    """Name the embedder for other languages if most notes that are there are in one."""
    if created_bank.included or not created_bank.created:
        with open_bank(created_bank.bank) as bank:
            if hint := multilingual_hint(bank):
                call.remark(hint)


def _show_agent(call: Call, agent_setup: AgentSetUp) -> None:
    for file in agent_setup.written:
        call.console.line("wrote ", (show_place(file), "place"))
    if agent_setup.next_step:
        call.console.line(("next: ", "bold"), f"{agent_setup.title}: {agent_setup.next_step}")
        call.console.line("  undo: ", f"memory-bank agents remove {agent_setup.name}")
    call.warn(agent_setup.problem and f"{agent_setup.title}: {agent_setup.problem}")


def _show_found(call: Call, bank: MadeBank, folder: str | None) -> None:
    """Say what could be included, and how."""
    paths = [candidate.path for candidate in bank.found]
    at = f" {shlex.quote(show_place(folder))}" if folder else ""
    options = " ".join(f"--include {shlex.quote(quote_path(path))}" for path in paths)
    line = render_document([*bank.included, *paths], indent=None)
    call.remark(
        f"to find {', '.join(map(quote_path, paths))} as notes, too, without changing them:"
    )
    call.remark(f"  memory-bank init{at} {options}")
    call.remark(
        f"or in {show_place(bank.bank)}/config.toml, below [memory]: include = {quote_path(line)}"
    )
