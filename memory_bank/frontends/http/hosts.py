"""Allowed host names of the HTTP server, against DNS rebinding by web pages."""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Iterable, Sequence
from contextlib import suppress

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")

_HOST = rb"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::([1-9][0-9]{0,4}))?"

_NAMED = re.compile(_HOST)

_ORIGIN = re.compile(rb"https?://" + _HOST)

_LAST_PORT = 65535


class Hosts:
    """A middleware that refuses requests whose `Host` or `Origin` is not an allowed name.

    Both are read as a browser writes them: a name in lower case, optionally with a port. Any port
    is allowed, since a tunnel or a proxy has its own.
    """

    def __init__(self, app: ASGIApp, names: Iterable[str]) -> None:
        """Guard an application; `names` are hosts without ports."""
        self._app = app
        self._names = frozenset(name.lower().encode() for name in names)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it with 421 or 403."""
        refusal = self._refusal(scope["headers"]) if scope["type"] == "http" else None
        await (refusal or self._app)(scope, receive, send)

    def _refusal(self, headers: Sequence[tuple[bytes, bytes]]) -> PlainTextResponse | None:
        hosts = [value for name, value in headers if name == b"host"]
        if len(hosts) != 1 or not self._ours(_NAMED.fullmatch(hosts[0])):
            return PlainTextResponse("Host is not a name of this server", 421)
        origins = [value for name, value in headers if name == b"origin"]
        if len(origins) > 1 or not all(self._ours(_ORIGIN.fullmatch(one)) for one in origins):
            return PlainTextResponse("Origin is not a name of this server", 403)
        return None

    def _ours(self, found: re.Match[bytes] | None) -> bool:
        return found is not None and found[1] in self._names and int(found[2] or 1) <= _LAST_PORT


def own_names(called: str, host: str, more: Sequence[str]) -> list[str]:
    """Return the host names that are allowed for a server on an address."""
    bound = ipaddress.ip_address(host)
    found = [called, host, *more]
    if bound.is_loopback or bound.is_unspecified:
        found += _LOOPBACK
    if bound.is_unspecified:
        found.append(socket.gethostname())
        with suppress(OSError):
            found += [str(one[4][0]) for one in socket.getaddrinfo(socket.gethostname(), None)]
    return list(dict.fromkeys(url_host(name) for name in found if name))


def url_host(host: str) -> str:
    """Return a host as written in a URL: an IPv6 address in brackets."""
    return f"[{host}]" if ":" in host and not host.startswith("[") else host
