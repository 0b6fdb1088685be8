"""The MCP server over streamable HTTP."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from mcp.server.auth.middleware.bearer_auth import BearerAuthBackend, RequireAuthMiddleware
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.routing import Route
from starlette.types import ASGIApp

from memory_bank.frontends.http.connections import Bodies, Limits
from memory_bank.frontends.http.endpoint import (
    LIMITS,
    Endpoint,
    Hosts,
    RequestGuard,
    same_secret,
    serve,
    token,
)
from memory_bank.frontends.http.path_redaction import PathRedaction
from memory_bank.frontends.mcp.http_sessions import Messages, SessionLimit
from memory_bank.frontends.mcp.server import MemoryServer

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
            lambda guard: application(server, guard, limits),
            address,
            PATH,
            token=lambda remote: token(token_file) if remote or token_file else None,
            hosts=hosts,
            limits=limits,
            on_start=on_start,
        )
    finally:
        server.shared.close()


def application(server: MemoryServer, guard: RequestGuard, limits: Limits = LIMITS) -> Starlette:
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
    guarded = Messages(SessionLimit(manager.handle_request, limits.sessions))
    endpoint: ASGIApp = Bodies(guarded, limits.body_bytes)
    middleware = [Middleware(Hosts, names=guard.names)]
    if guard.token:
        backend = BearerAuthBackend(_TokenVerifier(guard.token.value))
        middleware.append(Middleware(AuthenticationMiddleware, backend=backend))
        endpoint = RequireAuthMiddleware(endpoint, [])
    routes = [Route(PATH, endpoint=endpoint)]
    return Starlette(routes=routes, middleware=middleware, lifespan=lambda _: manager.run())
