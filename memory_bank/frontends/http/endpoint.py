"""An HTTP server on an address, for the names of this machine and, where asked for, a token."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hmac import compare_digest
from typing import NamedTuple

import anyio
import uvicorn
from starlette.types import ASGIApp

from memory_bank.actions.access_token import Token
from memory_bank.frontends.http.addresses import listen, parsed
from memory_bank.frontends.http.connections import Limits, Server, protocol
from memory_bank.frontends.http.hosts import own_names, url_host

_SHUTDOWN_SECONDS = 3
"""Seconds that a stopping server waits for running requests."""
LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The address of a running server, and what clients need."""

    url: str
    token: Token | None
    """The bearer token that clients must send; None if they need none."""
    remote: bool
    """Whether other machines can reach it."""


class Guard(NamedTuple):
    """Whom an application answers."""

    names: Sequence[str]
    """Host names of this server, without ports."""
    token: Token | None


def serve(
    application: Callable[[Guard], ASGIApp],
    address: str,
    path: str,
    *,
    token: Callable[[bool], Token | None],
    hosts: Sequence[str] = (),
    limits: Limits = LIMITS,
    on_start: Callable[[Endpoint], None],
) -> None:
    """Serve an application until SIGINT, which is raised as KeyboardInterrupt, or SIGTERM.

    `path` is that of the URL, `token` returns the token for an address that other machines can
    reach or not, `hosts` are further host names that clients may use, and `on_start` is called once
    clients can connect. Raises BadInput for an address that can't be listened on.
    """
    with listen(address) as listener:
        host, port = listener.getsockname()[:2]
        remote = not ipaddress.ip_address(host).is_loopback
        secret = token(remote)
        app = application(Guard(own_names(parsed(address)[0], host, hosts), secret))
        on_start(Endpoint(f"http://{url_host(host)}:{port}{path}", secret, remote))
        server = Server(_config(app, limits))
        try:
            anyio.run(server.serve, [listener])
        except SystemExit:
            if not server.should_exit:  # SIGTERM ends the server this way, after running requests
                raise


def same_secret(given: str, expected: bytes) -> bool:
    """Tell whether a client gave a secret, in constant time."""
    return compare_digest(given.encode("utf-8", "replace"), expected)


def _config(app: ASGIApp, limits: Limits) -> uvicorn.Config:
    return uvicorn.Config(
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
