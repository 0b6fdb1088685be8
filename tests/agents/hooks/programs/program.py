"""The contract of a program: where npm puts it, how it runs without a person, what its agent does.

A program is installed once into the user's cache, in the version that was tried last, and asks the
model of a test instead of its maker's.
"""

import os
import platform
import shutil
import subprocess
import sys
from abc import ABC, abstractmethod
from pathlib import Path
from typing import ClassVar

import pytest

from tests.agents.hooks.programs.dialects import Json, Plan, ToolCall

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "memory-bank-tests"
"""Where programs stay between runs; read here because tests get folders of their own."""

WRITTEN = "alpha\nbeta\n"
FAILS = "echo started; echo 'the lock is held' >&2; exit 3"
PASSES = "echo 41 passed"


class Program(ABC):
    """A program of an agent."""

    name: ClassVar[str]
    client: ClassVar[str]
    """Its name in `memory-bank agents install`."""
    server: ClassVar[bool] = True
    """Whether `memory-bank agents install` knows it; else its settings here have the server."""
    package: ClassVar[str]
    version: ClassVar[str]
    tools: ClassVar[tuple[str, str, str, str]]
    """Those that write, edit, run a command and read."""
    fields: ClassVar[tuple[str, str, str, str]]
    """Their fields: the path, the whole text, the old and the new text of an edit."""
    editing: ClassVar[dict[str, str]] = {}
    """Other fields of an edit."""

    @property
    def hooks(self) -> tuple[tuple[str, str], ...]:
        """Return the clients whose hooks it runs, each with the scope of a file that it reads."""
        return ((self.client, "user"),)

    @property
    def modules(self) -> Path:
        """The folder that npm fills."""
        name = self.package.replace("/", "+")
        return CACHE / f"{name}@{self.version}" / "node_modules"

    def install(self) -> None:
        """Install the program unless it is there; skip the test without npm."""
        if not shutil.which("npm") or not shutil.which("node"):
            pytest.skip("there is no Node with npm here")
        folder = self.modules.parent
        if (folder / "complete").exists():
            return
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text('{"private": true}')
        options = ("--no-audit", "--no-fund", "--ignore-scripts")
        command = ["npm", "install", *options, f"{self.package}@{self.version}"]
        subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=500)
        (folder / "complete").touch()

    @property
    @abstractmethod
    def start(self) -> list[str]:
        """Return the words that start the program."""

    @abstractmethod
    def words(self, project: Path, prompt: str) -> list[str]:
        """Return the words that make it work on a prompt in a project, without questions."""

    @property
    def environment(self) -> dict[str, str]:
        """Return what it needs in its environment."""
        return {}

    def files(self, project: Path) -> dict[str, str]:
        """Return what it needs in a fresh home: texts by their paths."""
        return {}

    def work(self, project: Path) -> Plan:
        """Return calls that write `notes.txt`, edit it, fail, pass and read the file."""
        write, edit, shell, read = self.tools
        path, content, old, new = self.fields
        file = {path: str(project / "notes.txt")}
        return [
            ToolCall(write, {**file, content: WRITTEN}),
            ToolCall(edit, {**file, old: "beta", new: "gamma", **self.editing}),
            ToolCall(shell, {"command": FAILS, "description": "Run the job"}),
            ToolCall(shell, {"command": PASSES, "description": "Run the tests"}),
            ToolCall(read, file),
        ]

    @abstractmethod
    def ask_memory(self, tool: str, arguments: Json) -> Plan:
        """Return the calls that end in one of a tool of the server `memory-bank`."""


def this_platform() -> str:
    machine = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64"}
    found = platform.machine().lower()
    return f"{sys.platform}-{machine.get(found, found)}"
