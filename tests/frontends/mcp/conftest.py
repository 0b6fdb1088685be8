"""A server of the project's bank with a client in the same process, and real ones over stdio."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client
from mcp_types import CallToolResult, Implementation

from memory_bank.frontends.mcp.server import MemoryServer
from memory_bank.frontends.mcp.toolbox import DEFAULT, Toolbox
from memory_bank.frontends.serving.shared_bank import SharedBank
from tests.frontends.cli.conftest import command, environment
from tests.frontends.mcp.answers import unquoted
from tests.support import forked

Result = TypeVar("Result")
AGENT = Implementation(name="test-agent", version="1")


class Agent:
    """A client that is connected for as long as a test runs."""

    def __init__(self, server: MemoryServer, portal: BlockingPortal, client: Client) -> None:
        self.server = server
        self.client = client
        self._portal = portal

    def __call__(self, tool: str, **arguments: Any) -> Answered:
        return Answered(self.ask(self.client.call_tool, tool, arguments))

    def ask(self, question: Callable[..., Awaitable[Result]], *words: Any) -> Result:
        return self._portal.call(question, *words)


@dataclass
class Answered:
    """What a tool answered."""

    result: CallToolResult

    @property
    def text(self) -> str:
        (block,) = self.result.content
        assert block.type == "text"
        return block.text

    @property
    def mark(self) -> str:
        """The mark of its quotes."""
        return re.findall(r"What stands in <(q-\w+)>", self.text)[0]

    @property
    def wrong(self) -> bool:
        return bool(self.result.is_error)

    @property
    def error(self) -> dict[str, str]:
        assert self.wrong, self.text
        found: dict[str, str] = unquoted(json.loads(self.text)["error"])
        return found

    def __getitem__(self, field: str) -> Any:
        assert not self.wrong, self.text
        return self.fields[field]

    @property
    def fields(self) -> dict[str, Any]:
        """What the structure says, its quotes taken off."""
        found: dict[str, Any] = unquoted(self.result.structured_content)
        return found


@pytest.fixture
def serving(project: Path, indexed_project: None) -> Iterator[Callable[..., Agent]]:
    """Connect agents to servers of the project's bank; all hang up in the end.

    Answers have a structure unless told otherwise: most tests look at fields. The text is the same.
    """
    with ExitStack() as until_the_end:
        portal = until_the_end.enter_context(start_blocking_portal())

        def make(
            *toolsets: str,
            read_only: bool = False,
            structured: bool = True,
            mode: Any = "auto",
            name: str = "",
            **settings: Any,
        ) -> Agent:
            shared = SharedBank(str(project))
            until_the_end.callback(shared.close)
            chosen = toolsets or DEFAULT
            toolbox = Toolbox(chosen, read_only=read_only, structured=structured)
            server = MemoryServer(shared, toolbox)
            info = Implementation(name=name or AGENT.name, version=AGENT.version)
            connecting = Client(server, client_info=info, mode=mode, **settings)
            connected = portal.wrap_async_context_manager(connecting)
            return Agent(server, portal, until_the_end.enter_context(connected))

        yield make


@pytest.fixture
def agent(serving: Callable[..., Agent]) -> Agent:
    """Make an agent with the usual tools."""
    return serving()


class Process:
    """A server in a process of its own, spoken to in lines."""

    def __init__(
        self, folder: Path, *words: str, path: Path | None = None, anew: bool = False
    ) -> None:
        """Start in a folder; modules in `path` come before all others.

        With `anew` it is started by an interpreter that has loaded nothing.
        """
        self.folder = folder
        env = environment()
        if path is not None:
            env["PYTHONPATH"] = os.pathsep.join([str(path), env["PYTHONPATH"]])
        start = subprocess.Popen if anew else forked.Popen
        self.popen = start(
            command(["serve", "mcp", *words]),
            cwd=folder,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._next = 0

    def write(self, data: bytes) -> None:
        assert self.popen.stdin is not None
        self.popen.stdin.write(data)
        self.popen.stdin.flush()

    def tell(self, method: str, **params: Any) -> None:
        self.write(line({"jsonrpc": "2.0", "method": method, "params": params}))

    def send(self, method: str, **params: Any) -> int:
        self._next += 1
        message = {"jsonrpc": "2.0", "id": self._next, "method": method, "params": params}
        self.write(line(message))
        return self._next

    def receive(self) -> dict[str, Any]:
        assert self.popen.stdout is not None
        found: dict[str, Any] = json.loads(self.popen.stdout.readline())
        return found

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        return self.answer(self.send(method, **params))

    def answer(self, number: int) -> dict[str, Any]:
        while (found := self.receive()).get("id") != number:
            assert "method" in found, found  # a notification
        return found

    def greet(self, **capabilities: object) -> dict[str, Any]:
        hello = {"protocolVersion": "2025-11-25", "capabilities": capabilities}
        answer = self.ask("initialize", **hello, clientInfo={"name": "test-agent", "version": "1"})
        self.tell("notifications/initialized")
        return answer

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        found: dict[str, Any] = self.ask("tools/call", name=tool, arguments=arguments)["result"]
        return found

    def hang_up(self) -> tuple[int, str]:
        """Close the line; return the exit code and what was said on stderr."""
        _, err = self.popen.communicate(timeout=60)
        return self.popen.returncode, err.decode()


def line(message: object) -> bytes:
    return json.dumps(message).encode() + b"\n"


@pytest.fixture
def process(project: Path) -> Iterator[Callable[..., Process]]:
    """Start servers of the project's bank; those left over are killed."""
    started: list[Process] = []

    def start(
        *words: str, folder: Path = project, path: Path | None = None, anew: bool = False
    ) -> Process:
        started.append(Process(folder, *words, path=path, anew=anew))
        return started[-1]

    yield start
    for one in started:
        if one.popen.poll() is None:
            one.popen.kill()
        one.popen.communicate()
