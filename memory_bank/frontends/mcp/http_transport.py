"""The door of HTTP: on this machine for everybody who can reach it, elsewhere with a token."""

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
from memory_bank.frontends.mcp.path_redaction import Hiding
from memory_bank.frontends.mcp.server import MemoryServer
from memory_bank.frontends.mcp.sessions import Messages, Sessions

PATH = "/mcp"
_PATIENCE = 3
"""Seconds that a stopping server waits for requests that are being answered."""
_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An open door."""

    url: str
    token: Token | None
    """What a client must show; None when it need not."""
    remote: bool
    """Whether other machines can reach it."""


class _Guard:
    """Lets in who shows the token."""

    def __init__(self, expected: bytes) -> None:
        self._expected = expected

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return who comes; None for a stranger. Takes the same time for every wrong token."""
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

    `hosts` are further names by which clients may call this machine; `said` is told once clients
    can come. Raises BadInput for an address that can't be listened on.
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
        raise BadInput(f"there is no machine {host!r}", "give an address of this one") from error
    family, kind, protocol, _, place = min(found, key=lambda one: one[0] != socket.AF_INET)
    listener = socket.socket(family, kind, protocol)
    try:
        if os.name == "posix":  # elsewhere the option lets two servers have one port
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
    """Return the application that answers for a server, guarded."""
    low = server._lowlevel_server  # noqa: SLF001  (the SDK's public way asks for an OAuth issuer)
    server.hide = Hiding(server.shared)
    manager = StreamableHTTPSessionManager(
        low,
        session_idle_timeout=limits.session_idle,
        max_request_body_size=limits.body_bytes,
        max_sessions=None,  # Sessions sees to that
    )
    guarded = Messages(Sessions(manager.handle_request, limits.sessions))
    endpoint: ASGIApp = RequestBodyLimitMiddleware(guarded, limits.body_bytes)
    middleware = [Middleware(Hosts, names=names)]
    if secret:
        backend = BearerAuthBackend(_Guard(secret.value))
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
        timeout_graceful_shutdown=_PATIENCE,
        h11_max_incomplete_event_size=limits.head_bytes,
    )
    server = Server(config)
    try:
        anyio.run(server.serve, [listener])
    except SystemExit:
        if not server.should_exit:  # it ends so after SIGTERM, once all is answered
            raise


def _parsed(address: str) -> tuple[str, int]:
    host, colon, port = address.rpartition(":")
    bare = host.removeprefix("[").removesuffix("]")
    if not (colon and host and port.isdecimal() and port.isascii() and int(port) < 2**16):
        raise BadInput(f"{address!r} is no HOST:PORT", "for example 127.0.0.1:8765, or [::1]:8765")
    if ":" in bare and host == bare:
        raise BadInput(f"{address!r}: which is the port?", f"write [{bare}]:{port}")
    return bare, int(port)


def _refused(host: str, port: int, error: OSError) -> BadInput:
    if error.errno == errno.EADDRINUSE:
        return BadInput(f"port {port} of {host} is in use", "choose another; 0 is any free one")
    if error.errno == errno.EADDRNOTAVAIL:
        return BadInput(f"{host} is no address of this machine", "for example 127.0.0.1")
    return BadInput(f"can't listen on {host}:{port}: {error.strerror}", "choose another port")
