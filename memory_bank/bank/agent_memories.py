"""The memories that programs of agents keep on this machine for a project: read where they are.

They are private to the user. Each is a bank of its own, whose index is in the private state of the
project's bank; no page, server, review or publication opens it, and nothing in it is changed.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol, cast

from memory_bank.bank.bank import Bank
from memory_bank.bank.copies import PrivateLayout
from memory_bank.base import NamedTuple, plugins
from memory_bank.base.documents import Scan
from memory_bank.base.errors import BadInput, NoteReadOnly
from memory_bank.base.paths import Layout
from memory_bank.git import repository
from memory_bank.notes.note import Note
from memory_bank.notes.roots import NoteRoot, Roots

KIND = "agents.clients"

GLOBAL = "-global"
"""Behind the name of a program whose memories of all projects are meant."""

_INDEX = "MEMORY.md"
"""The file that Claude Code reads at the start of a session: so much of it."""

_LINES, _BYTES = 200, 25_000


class Memories(NamedTuple):
    """The memories of one program that are of a project."""

    agent: str
    """The program's client, such as `claude-code`."""
    folder: Path
    paths: frozenset[str] | None = None
    """Those of its Markdown files that are of the project; None for all."""

    def remarks(self) -> Iterator[str]:
        """Yield what the program will not read."""
        file = self.folder / _INDEX
        if self.paths is None and file.is_file():
            data = file.read_bytes()
            lines = data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
            if lines > _LINES or len(data) > _BYTES:
                yield (
                    f"{file} has {lines:,} lines and {len(data):,} bytes: {self.agent} reads the"
                    f" first {_LINES:,} lines or {_BYTES:,} bytes"
                )


class MemoryKeeper(Protocol):
    """What the module of a client whose program keeps memories of its own has."""

    NAME: str

    def memories(
        self, project: Path, environment: Mapping[str, str]
    ) -> tuple[Path, frozenset[str] | None] | None:
        """Return the folder of the memories of a project, and which files are; None without any.

        One that also keeps some for all projects has `global_memories(environment)`.
        """


class _MemoriesLayout(PrivateLayout):
    """The folder of an agent's memories, with index and private state elsewhere."""

    def __init__(self, memories: Memories, private: Path) -> None:
        super().__init__(memories.folder, private)
        self._agent = memories.agent

    @property
    def name(self) -> str:
        """The program."""
        return self._agent


class _MemoriesRoot(NoteRoot):
    """A folder of which only some files are notes."""

    def __init__(self, memories: Memories) -> None:
        super().__init__(memories.folder)
        self._paths = memories.paths

    def scan(self) -> Scan:
        """Return the signatures of the notes."""
        scan, paths = super().scan(), self._paths
        if paths is None:
            return scan
        signatures = {
            path: signature for path, signature in scan.signatures.items() if path in paths
        }
        return Scan(signatures)


class _MemoriesRoots(Roots):
    def check_writable(self, key: str) -> None:
        """Raise NoteReadOnly."""
        raise NoteReadOnly(f"{key} is an agent's own memory: it is only read", "promote it")


def list_memories(project: Path, *, everywhere: bool = False) -> list[Memories]:
    """Return the memories of all programs that have some of a project, by program.

    With `everywhere`, also those that a program has for all projects.
    """
    tree = repository.find_worktree(project) or project
    memories = []
    for name in plugins.list_plugins(KIND):
        module = plugins.load(KIND, name)
        if hasattr(module, "memories"):
            keeper = cast("MemoryKeeper", module)
            places = {keeper.NAME: keeper.memories(tree, os.environ)}
            if everywhere and hasattr(module, "global_memories"):
                places[f"{keeper.NAME}{GLOBAL}"] = module.global_memories(os.environ)
            memories += [
                Memories(agent, place[0].resolve(), place[1])
                for agent, place in places.items()
                if place is not None and _is_there(*place)
            ]
    return memories


def _is_there(folder: Path, entries: Collection[str] | None) -> bool:
    return (
        folder.is_dir() if entries is None else any((folder / word).is_file() for word in entries)
    )


def open_all(bank: Bank, stack: ExitStack, *, everywhere: bool) -> tuple[list[Bank], list[str]]:
    """Open the memories of a bank's project; return them, and remarks on them."""
    banks: list[Bank] = []
    remarks: list[str] = []
    for memories in list_memories(bank.layout.project, everywhere=everywhere):
        remarks += memories.remarks()
        banks.append(stack.enter_context(open_memories(bank, memories)))
    return banks, remarks


def find_memory(bank: Bank, agent: str, path: str) -> Note:
    """Return one memory of a program; raise BadInput for a program without any, NoteNotFound."""
    all_memories = list_memories(bank.layout.project)
    agent_folder = next(
        (folder for folder in all_memories if folder.agent == agent),
        None,
    )
    if agent_folder is None or (agent_folder.paths is not None and path not in agent_folder.paths):
        raise BadInput(
            f"{agent} has no memory {path} of this project", "see: recall --include agents"
        )
    with open_memories(bank, agent_folder) as memories:
        return memories.store.read(path)


def open_memories(bank: Bank, memories: Memories) -> Bank:
    """Open the memories of one program, with the settings of the project's bank."""
    layout: Layout = _MemoriesLayout(
        memories, bank.layout.state(bank.id) / "agents" / memories.agent
    )
    return Bank(layout, bank.settings, roots=_MemoriesRoots(_MemoriesRoot(memories)))
