"""The MCP server over streamable HTTP, with guards before messages and limits of sessions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from mcp.server.auth.middleware.bearer_auth import BearerAuthBackend, RequireAuthMiddleware
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types import INTERNAL_ERROR, JSONRPCRequest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memory_bank.frontends.mcp.server import (
    InvalidMessage,
    MemoryServer,
    parse_message,
    refuse_message,
    write_message,
)
from memory_bank.frontends.serving.connections import BODY, Bodies, Limits
from memory_bank.frontends.serving.endpoint import (
    LIMITS,
    Endpoint,
    Hosts,
    Token,
    read_token,
    same_secret,
    serve,
)
from memory_bank.frontends.serving.path_redaction import PathRedaction

PATH = "/mcp"


class _TokenVerifier:
    """Verifies the bearer token of a request."""

    def __init__(self, expected: bytes) -> None:
        self._expected = expected

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return the access of a token, None for a wrong one, in constant time."""
        if not same_secret(token, self._expected):
            return None
        return AccessToken(token=token, client_id="memory-bank", scopes=[])


def serve_http(
    server: MemoryServer,
    address: str,
    *,
    token_file: Path | None = None,
    hosts: Sequence[str] = (),
    limits: Limits = LIMITS,
    on_start: Callable[[Endpoint], None],
) -> None:
    """Serve any number of clients, as `serve` does, and close the bank at the end."""
    try:
        serve(
            partial(build_application, server, limits=limits),
            address,
            PATH,
            token=lambda remote: read_token(token_file) if remote or token_file else None,
            hosts=hosts,
            limits=limits,
            on_start=on_start,
        )
    finally:
        server.shared.close()


def build_application(
    server: MemoryServer, names: Sequence[str], token: Token | None, limits: Limits = LIMITS
) -> Starlette:
    """Return the ASGI application of a server, with its middleware."""
    low = server._lowlevel_server  # noqa: SLF001  (the SDK's public way asks for an OAuth issuer)
    server.hide = PathRedaction(server.shared)
    server.asks_folders = False  # they are of other machines
    manager = StreamableHTTPSessionManager(
        low,
        session_idle_timeout=limits.session_idle,
        max_request_body_size=limits.body_bytes,
        max_sessions=None,  # limited by Sessions
    )
    messages = Messages(SessionLimit(manager.handle_request, limits.sessions))
    endpoint: ASGIApp = Bodies(messages, limits.body_bytes)
    middleware = [Middleware(Hosts, names=names)]
    if token:
        backend = BearerAuthBackend(_TokenVerifier(token.value))
        middleware.append(Middleware(AuthenticationMiddleware, backend=backend))
        endpoint = RequireAuthMiddleware(endpoint, [])
    routes = [Route(PATH, endpoint=endpoint)]
    return Starlette(routes=routes, middleware=middleware, lifespan=lambda _: manager.run())


_ID = MCP_SESSION_ID_HEADER.encode()

_GONE = 404

_FAILED = 400

_JSON = "application/json"


class Messages:
    """A middleware that answers an invalid message with an error and status 400.

    It sets `scope["mcp.message"]` of a POST.
    """

    def __init__(self, app: ASGIApp) -> None:
        """Wrap an application."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["method"] != "POST":
            return await self._app(scope, receive, send)
        message = parse_message(scope[BODY])
        if isinstance(message, InvalidMessage):
            response = Response(write_message(message.answer), _FAILED, media_type=_JSON)
            return await response(scope, receive, send)
        return await self._app({**scope, "mcp.message": message}, receive, send)


@dataclass(slots=True)
class _Session:
    """An open session."""

    requests: int = 0
    """Running requests, including an open stream."""
    used: bool = False
    """Whether a request followed `initialize`."""


class SessionLimit:
    """A middleware that limits the sessions: a new one ends the one idle for longest.

    Sessions without a request after `initialize` end before all others.
    """

    def __init__(self, app: ASGIApp, most: int) -> None:
        """Wrap an application."""
        self._app = app
        self._most = most
        self._open: dict[bytes, _Session] = {}  # the longest idle first
        self._opening = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, to its session or to open one."""
        session_id = next((value for name, value in scope["headers"] if name == _ID), None)
        message = scope.get("mcp.message")
        if session_id is not None:
            await self._continue_session(session_id, scope, receive, send)
        elif isinstance(message, JSONRPCRequest) and message.method == "initialize":
            await self._open_session(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _continue_session(
        self, session_id: bytes, scope: Scope, receive: Receive, send: Send
    ) -> None:
        session = self._open.get(session_id)
        if session is None:
            return await self._app(scope, receive, send)
        session.used = True
        session.requests += 1
        try:
            status = await _run_application(self._app, scope, receive, send)
        finally:
            session.requests -= 1
            self._move_to_end(session_id, session)
        if status == _GONE or (scope["method"] == "DELETE" and status < _FAILED):
            self._open.pop(session_id, None)
        return None

    async def _open_session(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._opening += 1
        session = _Session(requests=1)
        session_ids: list[bytes] = []

        async def register(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] < _FAILED:
                session_ids.extend(
                    value for session_id, value in message["headers"] if session_id == _ID
                )
                self._open.update(dict.fromkeys(session_ids, session))
                self._opening -= len(session_ids)
            await send(message)

        try:
            if not await self._make_room(scope):
                full = refuse_message(INTERNAL_ERROR, "Too many open sessions")
                response = Response(write_message(full.answer), 503, {"retry-after": "5"}, _JSON)
                return await response(scope, receive, send)
            await self._app(scope, receive, register)
        finally:
            self._opening -= not session_ids
            session.requests -= 1
            for session_id in session_ids:
                self._move_to_end(session_id, session)
        return None

    def _move_to_end(self, name: bytes, session: _Session) -> None:
        """Move a session to the end: it was used just now."""
        if self._open.get(name) is session:
            self._open[name] = self._open.pop(name)

    async def _make_room(self, scope: Scope) -> bool:
        """End idle sessions until the new ones fit; return False if they don't."""
        while len(self._open) + self._opening > self._most:
            idle = [
                session_id for session_id, session in self._open.items() if not session.requests
            ]
            if not idle:
                return False
            session_id = next(
                (session_id for session_id in idle if not self._open[session_id].used), idle[0]
            )
            del self._open[session_id]
            end = {**scope, "method": "DELETE", "headers": [(_ID, session_id)], "mcp.message": None}
            await self._app(end, _receive_nothing, _discard_answer)
        return True


async def _run_application(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> int:
    """Run an application; return the status of its answer, 0 if there was none."""
    status = 0

    async def watch(message: Message) -> None:
        nonlocal status
        if message["type"] == "http.response.start":
            status = message["status"]
        await send(message)

    await app(scope, receive, watch)
    return status


async def _receive_nothing() -> Message:
    """Return an empty request body."""
    return {"type": "http.request", "body": b"", "more_body": False}


async def _discard_answer(_: Message) -> None:
    """Discard the answer to the end of a session."""
