"""Serve the dashboard of a bank to browsers."""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence
from pathlib import Path
from urllib.parse import quote

from memory_bank.frontends.http.connections import Limits
from memory_bank.frontends.http.endpoint import LIMITS, Endpoint, serve
from memory_bank.frontends.web import access
from memory_bank.frontends.web.app import application
from memory_bank.frontends.web.site import Site

ADDRESS = "127.0.0.1:8766"
"""The default address: only browsers of this machine reach it."""
_ANY = ("//0.0.0.0:", "//[::]:")


def serve_web(
    site: Site,
    address: str = ADDRESS,
    *,
    token_file: Path | None = None,
    hosts: Sequence[str] = (),
    limits: Limits = LIMITS,
    on_start: Callable[[Endpoint], None],
) -> None:
    """Serve a dashboard, as `serve` does, and close the bank at the end."""
    try:
        serve(
            lambda guard: application(site, guard),
            address,
            "/",
            token_file=token_file,
            hosts=hosts,
            limits=limits,
            on_start=on_start,
        )
    finally:
        site.shared.close()


def entrance(endpoint: Endpoint) -> str:
    """Return the address to open first: with the token, where one is needed."""
    url = endpoint.url
    for any_address in _ANY:
        url = url.replace(any_address, f"//{socket.gethostname()}:")
    if endpoint.token is None:
        return url
    return f"{url}?{access.FIELD}={quote(endpoint.token.value.decode(), safe='')}"
