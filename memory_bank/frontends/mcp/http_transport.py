"""The HTTP transport: without a token on a loopback address, with one on any other address."""

from __future__ import annotations

import errno
import ipaddress
import os
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hmac import compare_digest
from pathlib import Path

import anyio
import uvicorn
from mcp.server.auth.middleware.bearer_auth import BearerAuthBackend, RequireAuthMiddleware
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import RequestBodyLimitMiddleware
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.routing import Route
from starlette.types import ASGIApp

from memory_bank.actions.access_token import Token, token
from memory_bank.errors import BadInput
from memory_bank.frontends.mcp.connections import Limits, Server, protocol
from memory_bank.frontends.mcp.hosts import Hosts, own_names, url_host
from memory_bank.frontends.mcp.path_redaction import PathRedaction
from memory_bank.frontends.mcp.server import MemoryServer
from memory_bank.frontends.mcp.sessions import Messages, Sessions

PATH = "/mcp"
_SHUTDOWN_SECONDS = 3
"""Seconds that a stopping server waits for running requests."""
_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The address of a running server, and what clients need."""

    url: str
    token: Token | None
    """The bearer token that clients must send; None if they need none."""
    remote: bool
    """Whether other machines can reach it."""


class _TokenVerifier:
    """Verifies the bearer token of a request."""

    def __init__(self, expected: bytes) -> None:
        self._expected = expected

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return the access of a token, None for a wrong one, in constant time."""
        if not compare_digest(token.encode("latin-1", "replace"), self._expected):
            return None
        return AccessToken(token=token, client_id="memory-bank", scopes=[])


def serve_http(
    server: MemoryServer,
    address: str,
    *,
    token_file: Path | None = None,
    hosts: Sequence[str] = (),
    limits: Limits = _LIMITS,
    on_start: Callable[[Endpoint], None],
) -> None:
    """Serve any number of clients until SIGINT, which is raised as KeyboardInterrupt, or SIGTERM.

    `hosts` are further host names that clients may use; `on_start` is called once clients can
    connect. Raises BadInput for an address that can't be listened on.
    """
    try:
        with listen(address) as listener:
            host, port = listener.getsockname()[:2]
            remote = not ipaddress.ip_address(host).is_loopback
            secret = token(token_file) if remote or token_file else None
            names = own_names(_parsed(address)[0], host, hosts)
            app = application(server, names, secret, limits)
            on_start(Endpoint(f"http://{url_host(host)}:{port}{PATH}", secret, remote))
            _run(app, listener, limits)
    finally:
        server.shared.close()


def listen(address: str) -> socket.socket:
    """Return a socket that is bound to HOST:PORT; raise BadInput."""
    host, port = _parsed(address)
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (socket.gaierror, UnicodeError) as error:
        raise BadInput(f"there is no host {host!r}", "give an address of this machine") from error
    family, kind, protocol, _, place = min(found, key=lambda one: one[0] != socket.AF_INET)
    listener = socket.socket(family, kind, protocol)
    try:
        if os.name == "posix":  # on Windows the option lets two servers share a port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(place)
        listener.listen()
    except OSError as error:
        listener.close()
        raise _refused(host, port, error) from error
    return listener


def application(
    server: MemoryServer, names: Sequence[str], secret: Token | None, limits: Limits = _LIMITS
) -> Starlette:
    """Return the ASGI application of a server, with its middleware."""
    low = server._lowlevel_server  # noqa: SLF001  (the SDK's public way asks for an OAuth issuer)
    server.hide = PathRedaction(server.shared)
    manager = StreamableHTTPSessionManager(
        low,
        session_idle_timeout=limits.session_idle,
        max_request_body_size=limits.body_bytes,
        max_sessions=None,  # limited by Sessions
    )
    guarded = Messages(Sessions(manager.handle_request, limits.sessions))
    endpoint: ASGIApp = RequestBodyLimitMiddleware(guarded, limits.body_bytes)
    middleware = [Middleware(Hosts, names=names)]
    if secret:
        backend = BearerAuthBackend(_TokenVerifier(secret.value))
        middleware.append(Middleware(AuthenticationMiddleware, backend=backend))
        endpoint = RequireAuthMiddleware(endpoint, [])
    routes = [Route(PATH, endpoint=endpoint)]
    return Starlette(routes=routes, middleware=middleware, lifespan=lambda _: manager.run())


def _run(app: Starlette, listener: socket.socket, limits: Limits) -> None:
    config = uvicorn.Config(
        app,
        http=protocol(limits),
        ws="none",
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=2 * limits.connections,
        timeout_keep_alive=limits.idle,
        timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
        h11_max_incomplete_event_size=limits.head_bytes,
    )
    server = Server(config)
    try:
        anyio.run(server.serve, [listener])
    except SystemExit:
        if not server.should_exit:  # SIGTERM ends the server this way, after running requests
            raise


def _parsed(address: str) -> tuple[str, int]:
    host, colon, port = address.rpartition(":")
    bare = host.removeprefix("[").removesuffix("]")
    if not (colon and host and port.isdecimal() and port.isascii() and int(port) < 2**16):
        raise BadInput(f"{address!r} is not HOST:PORT", "for example 127.0.0.1:8765, or [::1]:8765")
    if ":" in bare and host == bare:
        raise BadInput(f"{address!r}: an IPv6 address needs brackets", f"write [{bare}]:{port}")
    return bare, int(port)


def _refused(host: str, port: int, error: OSError) -> BadInput:
    if error.errno == errno.EADDRINUSE:
        return BadInput(f"port {port} of {host} is in use", "choose another; 0 is any free port")
    if error.errno == errno.EADDRNOTAVAIL:
        return BadInput(f"{host} is not an address of this machine", "for example 127.0.0.1")
    return BadInput(f"can't listen on {host}:{port}: {error.strerror}", "choose another port")
