"""Find the agents' programs of this user, and add hooks and the server to each in one go."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from memory_bank.agents import client_files, clients, hook_install, install
from memory_bank.agents.client_files import Program
from memory_bank.bank.bank import Bank
from memory_bank.base.errors import MemoryBankError

_COMMANDS = {"claude-code": "claude", "vscode": "code"}
"""Programs that are not started by the name of the client."""


_PARTS = frozenset(["hooks", "plugins"])
"""Folders of a program that are made only for its first hook."""


@dataclass(frozen=True, slots=True)
class FoundAgent:
    """A program that this user has."""

    name: str
    title: str
    files: tuple[str, ...]
    """The user's own files to which hooks and the server would be added; they may be one."""


@dataclass(frozen=True, slots=True)
class AgentSetUp:
    """What was done for one program."""

    name: str
    title: str
    written: tuple[str, ...]
    """The files that changed."""
    next_step: str
    """The steps of the user before the program uses it; empty if nothing changed."""
    undo: tuple[str, ...]
    """The commands that take it out again."""
    problem: str = ""
    """Why a part of it was not done."""


def agents() -> tuple[FoundAgent, ...]:
    """Return the programs that are installed, or have a folder of the user's."""
    names = sorted({*clients.names(clients.HOOKS), *clients.names(clients.SERVERS)})
    return tuple(one for name in names if (one := _found(name)))


def set_up(bank: Bank | None, name: str) -> AgentSetUp:
    """Add hooks and the server to the user's own files of a program; all else in them stays.

    What can't be done is a problem of the answer. `hooks uninstall` and `mcp uninstall` leave no
    byte of it.
    """
    written: list[str] = []
    steps: list[str] = []
    problems: list[str] = []
    undo: list[str] = []
    for part, command, change in (
        (clients.HOOKS, "hooks uninstall", _hooks),
        (clients.SERVERS, "mcp uninstall", _server),
    ):
        if name not in clients.names(part):
            continue
        undo.append(f"memory-bank {command} --client {name} --scope user")
        try:
            one, file = change(bank, name)
        except MemoryBankError as error:
            problems.append(error.message)
            continue
        if file:
            written.append(file)
            steps.append(one.next_user)
    return AgentSetUp(
        name,
        _title(name),
        tuple(dict.fromkeys(written)),
        "; ".join(one for one in steps if not any(one in other != one for other in steps)),
        tuple(undo),
        "; ".join(problems),
    )


def _hooks(bank: Bank | None, name: str) -> tuple[Program, str]:
    change = hook_install.install(bank, name, scope="user")
    hook_install.write(change)
    return change.client, str(change.file) if change.changed else ""


def _server(bank: Bank | None, name: str) -> tuple[Program, str]:
    change = install.install(bank, name, scope="user")
    install.write(change)
    return change.client, str(change.file) if change.changed else ""


def _found(name: str) -> FoundAgent | None:
    files = [client_files.user_file(one) for one in _programs(name)]
    home = {Path.home(), Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")}
    places = [file.parent for file in files if file.parent not in home]
    folders = [one.parent if one.name in _PARTS else one for one in places]
    if not (any(one.is_dir() for one in folders) or shutil.which(_COMMANDS.get(name, name))):
        return None
    return FoundAgent(name, _title(name), tuple(dict.fromkeys(map(str, files))))


def _title(name: str) -> str:
    return next(one.title for one in _programs(name))


def _programs(name: str) -> Iterator[Program]:
    module = clients.load(name)
    for part in (clients.HOOKS, clients.SERVERS):
        if module is not None and hasattr(module, part):
            yield getattr(module, part)()
