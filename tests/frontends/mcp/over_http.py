"""A server over HTTP in a process of its own with limits that a test can wait for."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

import memory_bank
from tests.support import forked

_SERVE = """
import sys
from memory_bank.frontends.serving.connections import Limits
from memory_bank.frontends.mcp.http_transport import serve_http
from memory_bank.frontends.mcp.server import MemoryServer
from memory_bank.frontends.mcp.toolbox import DEFAULT
from memory_bank.frontends.mcp.toolbox import Toolbox
from memory_bank.frontends.serving.shared_bank import SharedBank

folder, limits = sys.argv[1], dict(one.split("=") for one in sys.argv[2:])
kinds = {name: type(getattr(Limits(), name)) for name in limits}
server = MemoryServer(SharedBank(folder), Toolbox(DEFAULT, read_only=False))
serve_http(
    server,
    "127.0.0.1:0",
    limits=Limits(**{name: kinds[name](float(value)) for name, value in limits.items()}),
    on_start=lambda endpoint: print(endpoint.url, flush=True),
)
"""
VERSION = "2025-11-25"
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": VERSION,
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
PING = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
ACCEPT = {"accept": "application/json, text/event-stream", "content-type": "application/json"}


@dataclass(frozen=True)
class Served:
    """A server that runs."""

    url: str
    process: subprocess.Popen[str]
    token_file: str | None = None

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2].partition("/")[0])

    def connect(self) -> socket.socket:
        line = socket.create_connection(("127.0.0.1", self.port), timeout=60)
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return line

    def raw(self, data: bytes) -> int:
        """Send bytes; return the status of the answer, 0 where there is none."""
        with self.connect() as line:
            line.sendall(data)
            found = line.recv(65536).split(b" ", 2)
            return int(found[1]) if len(found) > 1 else 0

    def stop(self, number: int) -> int:
        """Send a signal and return the exit code."""
        self.process.send_signal(number)
        return self.process.wait(60)

    def post(self, message: object = HELLO, session: str = "", **settings: Any) -> httpx2.Response:
        """Post a message, or bytes or pieces of bytes as they are; say hello where none is named."""
        headers = {**ACCEPT, **settings.pop("headers", {})}
        if session:
            headers["mcp-session-id"] = session
        as_it_is = isinstance(message, bytes | Iterator)
        content: Any = message if as_it_is else json.dumps(message).encode()
        return httpx2.post(self.url, headers=headers, content=content, timeout=60, **settings)

    def open(self) -> str:
        """Open a session and use it once."""
        session = self.hello()
        assert self.post({"jsonrpc": "2.0", "method": "notifications/initialized"}, session)
        return session

    def hello(self) -> str:
        """Open a session; return its id."""
        answer = self.post()
        assert answer.status_code == 200, answer.text
        return str(answer.headers["mcp-session-id"])

    def ping(self, session: str) -> int:
        """Return the status of a ping in a session."""
        return int(self.post(PING, session).status_code)


@contextmanager
def served(project: Path, **limits: float) -> Iterator[Served]:
    """Serve a project's bank with some limits changed."""
    given = [f"{name}={value}" for name, value in limits.items()]
    process = forked.Popen(
        [sys.executable, "-c", _SERVE, str(project), *given],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(memory_bank.__file__).parents[1])},
    )
    try:
        assert process.stdout is not None
        yield Served(process.stdout.readline().strip(), process)
    finally:
        process.kill()
        process.communicate()


def until_closed(line: socket.socket, drip: bytes = b"", *, most: float = 60) -> None:
    """Wait until the other side closes a connection, while two bytes a second drip."""
    begun = time.monotonic()
    line.settimeout(0.5)
    while time.monotonic() - begun < most:
        try:
            if drip:
                line.send(drip)
            if line.recv(65536) == b"":
                break
        except TimeoutError:
            continue
        except OSError:
            break
