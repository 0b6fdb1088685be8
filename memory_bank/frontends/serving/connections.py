"""HTTP connections: time limits, a maximum number, and a maximum size of bodies."""

from __future__ import annotations

import asyncio
import logging
import math
import socket
from typing import Any

import h11
import uvicorn
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from memory_bank.base import NamedTuple

_SWEEP = 0.25
"""Seconds between two checks of all connections."""


class Limits(NamedTuple):
    """Limits of the server; times in seconds."""

    connections: int = 512
    head: float = 10
    """For a request's headers, from the connection's start or the last request."""
    body: float = 30
    write: float = 30
    """For a client to read an answer, plus the time that `write_rate` allows for its size."""
    write_rate: int = 64 * 2**10
    """Bytes per second that a client has to read at least."""
    idle: int = 5
    """Between two requests of a connection."""
    head_bytes: int = 16 * 2**10
    body_bytes: int = 4 * 2**20
    sessions: int = 1000
    session_idle: float = 1800
    """For a session without a request or an open stream."""


class _RequestParser(h11.Connection):
    """An HTTP/1.1 parser that refuses ambiguous requests."""

    def __init__(self, most: int) -> None:
        super().__init__(h11.SERVER, most)
        self._most = most

    def next_event(self) -> Any:  # noqa: ANN401  (as h11 has it)
        """Return the next event; raise RemoteProtocolError for an ambiguous request."""
        data = self.trailing_data[0] if self.their_state is h11.IDLE else b""
        event = super().next_event()
        if isinstance(event, h11.Request):
            head = data[: len(data) - len(self.trailing_data[0])]
            if len(head) > self._most:
                raise h11.RemoteProtocolError("headers are too long")
            _check_unambiguous(event, head)
        return event


def _check_unambiguous(request: h11.Request, head: bytes) -> None:
    """Raise RemoteProtocolError if a proxy may read the request differently (smuggling)."""
    # h11 merges several equal lengths into one
    lines = [line.lower().partition(b":") for line in head.split(b"\n")[1:]]
    lengths = [value for name, _, value in lines if name == b"content-length"]
    codings = [value for name, _, value in lines if name == b"transfer-encoding"]
    if len(lengths) + len(codings) > 1 or any(b"," in value for value in lengths):
        raise h11.RemoteProtocolError("the body's length is given twice")
    if codings and request.http_version < b"1.1":
        raise h11.RemoteProtocolError("Transfer-Encoding needs HTTP/1.1")
    if not request.target.startswith(b"/"):
        raise h11.RemoteProtocolError("the target is not a path")


class Connection(H11Protocol):
    """A connection that records what it waits for and since when."""

    limits = Limits()

    def __init__(self, *args: Any, **settings: Any) -> None:  # noqa: ANN401  (as uvicorn has it)
        super().__init__(*args, **settings)
        self.conn = _RequestParser(self.limits.head_bytes)
        self._phase: tuple[str, object] = ("", None)
        self._since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept a connection; if there are too many, close the one idle for longest."""
        super().connection_made(transport)
        self.waits_since()
        connections = [other for other in self.connections if not other.transport.is_closing()]
        if len(connections) > self.limits.connections:
            idle = [
                connection
                for connection in connections
                if isinstance(connection, Connection) and connection.may_close(self)
            ]
            min(idle, key=Connection.closing_order, default=self).transport.abort()

    def may_close(self, newest: Connection) -> bool:
        """Return whether this connection may be closed for a newer one: not during a call."""
        return self is not newest and (
            self._current_phase() != "answer" or self.scope["method"] == "GET"
        )

    def closing_order(self) -> tuple[bool, float]:
        """Return the sort key for closing: idle before open streams, then the longest wait."""
        return self._current_phase() == "answer", self.waits_since()

    def waits_since(self) -> float:
        """Return when the current wait began."""
        phase = self._current_phase(), self.cycle
        if phase != self._phase:
            self._phase, self._since = phase, self.loop.time()
        return self._since

    def end_if_stalled(self) -> None:
        """Close the connection if the client took too long."""
        limits = self.limits
        most = {"head": limits.head, "body": limits.body, "write": limits.write}
        since = self.waits_since()
        allowed = most.get(self._phase[0], math.inf)
        if self._phase[0] == "write":  # a long answer over a slow connection is not a stall
            allowed += self.transport.get_write_buffer_size() / limits.write_rate
        if self.loop.time() - since > allowed:
            self.transport.abort()

    def resume_writing(self) -> None:
        """Continue after the client has read the pending data; the time limit restarts."""
        super().resume_writing()
        self._phase = ("", None)

    def _current_phase(self) -> str:
        """Name what the connection waits for; `answer` has no time limit."""
        if self.transport.is_closing():
            return "write"
        if self.conn.their_state is h11.SEND_BODY:
            return "body"
        cycle: object = self.cycle  # None before the first request
        if cycle is None or self.cycle.response_complete:
            return "head"
        return "write" if self.flow.write_paused else "answer"


class Server(uvicorn.Server):
    """A server that closes stalled connections, and logs no errors for those cut at shutdown."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._swept = 0.0

    async def on_tick(self, counter: int) -> bool:
        """Check the connections regularly; return whether to stop."""
        now = asyncio.get_running_loop().time()
        if now - self._swept >= _SWEEP:
            self._swept = now
            close_stalled(self.server_state)
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Wait for requests to end, then close all connections."""
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        await super().shutdown(sockets)


def close_stalled(state: ServerState) -> None:
    """Close the stalled connections of a server."""
    for connection in list(state.connections):
        if isinstance(connection, Connection):
            connection.end_if_stalled()


def limit_protocol(limits: Limits) -> type[Connection]:
    """Return the protocol of a server with these limits."""
    return type("Connection", (Connection,), {"limits": limits})


BODY = "memory_bank.body"
"""The key of a request's scope with its whole body."""


class Bodies:
    """A middleware that reads the body of a request first, and refuses one that is too large."""

    def __init__(self, app: ASGIApp, most: int) -> None:
        """Guard an application; `most` is the largest number of bytes."""
        self._app = app
        self._most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on with its whole body, or refuse it with 413."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        lengths = [value for name, value in scope["headers"] if name == b"content-length"]
        if any(int(value) > self._most for value in lengths):  # h11 has checked that it is a number
            await self._refuse(scope, receive, send)
            return
        body = bytearray()
        message: Message = {"more_body": True}
        while message.get("more_body"):
            message = await receive()
            body += message.get("body", b"")
            if len(body) > self._most:
                await self._refuse(scope, receive, send)
                return
        if message["type"] != "http.request":  # the client has gone
            return
        messages: list[Message] = [
            {"type": "http.request", "body": bytes(body), "more_body": False}
        ]

        async def replay() -> Message:
            return messages.pop() if messages else await receive()

        await self._app({**scope, BODY: messages[0]["body"]}, replay, send)

    async def _refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = PlainTextResponse(f"the body is larger than {self._most:,} bytes", 413)
        await refusal(scope, receive, send)
