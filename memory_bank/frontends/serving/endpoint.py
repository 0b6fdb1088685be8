"""An HTTP server on an address, for the names of this machine and, where asked for, a token."""

from __future__ import annotations

import errno
import ipaddress
import os
import re
import secrets
import socket
import stat
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hmac import compare_digest
from pathlib import Path

import anyio
import uvicorn
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from memory_bank.base import NamedTuple, lazy_pattern, paths
from memory_bank.base.errors import BadInput, Hint, NoteExists, StorageFailed
from memory_bank.frontends.serving.connections import Limits, Server, limit_protocol
from memory_bank.notes.storage import files

_BYTES = 32
"""Random bytes of a new token."""

_SHORTEST = 16
"""Characters of the shortest token that is taken."""

_MOST = 4096
"""Bytes that are read of a token's file."""

_OTHERS = 0o077
"""Permission bits of everyone but the owner."""

_SHAPE = lazy_pattern(rb"[!-~]{%d,}" % _SHORTEST)


@dataclass(frozen=True, slots=True)
class Token:
    """A bearer token and its file."""

    value: bytes = field(repr=False)
    file: Path | None = None
    """The file of the token; None if it ends with the process."""
    made: bool = True
    """Whether it is new."""


def new_token() -> Token:
    """Return a token that is in no file."""
    return Token(_make_value())


def read_token(file: Path | None = None) -> Token:
    """Return the token of a file; create a private file with a new token if there is none.

    The default file is the user's, for all banks. Raises BadInput if others can read the file or
    it contains no valid token, StorageFailed if it can't be read or created.
    """
    file = file or paths.user_folder("state") / "http-token"
    is_made = not os.path.lexists(file)
    if is_made:
        _make_file(file)
    return Token(_read_value(file), file, is_made)


def _make_file(file: Path) -> None:
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise files.refusal_error("make", file.parent, error) from error
    with suppress(NoteExists):  # another server was faster: its token is used
        files.replace(file, _make_value() + b"\n", files.ABSENT, mode=0o600)


def _make_value() -> bytes:
    return secrets.token_urlsafe(_BYTES).encode()


def _read_value(file: Path) -> bytes:
    try:
        with file.open("rb") as stream:
            _check_private(file, os.fstat(stream.fileno()))
            value = stream.read(_MOST).strip()
    except OSError as error:
        raise files.refusal_error("read", file, error) from error
    if not _SHAPE.fullmatch(value):
        raise BadInput(
            f"{file} has no token: one line of at least {_SHORTEST} ASCII characters",
            "remove the file to get a new token",
        )
    return value


def _check_private(file: Path, file_stat: os.stat_result) -> None:
    """Raise BadInput if somebody else could know the token."""
    if not stat.S_ISREG(file_stat.st_mode):
        raise StorageFailed(f"{file} is not a regular file", Hint.NAME_ANOTHER_FILE)
    if os.name == "nt":  # pragma: no cover  (there the folder's rights count)
        return
    if file_stat.st_uid not in {os.geteuid(), 0}:
        raise BadInput(f"{file} belongs to somebody else", Hint.NAME_ANOTHER_FILE)
    if file_stat.st_mode & _OTHERS:
        raise BadInput(
            f"others can read {file}",
            "remove it to get a new token; `chmod 600` is enough if nobody has read it",
        )


def listen(address: str) -> socket.socket:
    """Return a socket that is bound to HOST:PORT; raise BadInput."""
    host, port = parse_endpoint(address)
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (socket.gaierror, UnicodeError) as error:
        raise BadInput(f"there is no host {host!r}", "give an address of this machine") from error
    family, kind, protocol, _, place = min(addresses, key=lambda row: row[0] != socket.AF_INET)
    listener = socket.socket(family, kind, protocol)
    try:
        if os.name == "posix":  # on Windows the option lets two servers share a port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(place)
        listener.listen()
    except OSError as error:
        listener.close()
        raise _bind_error(host, port, error) from error
    return listener


def parse_endpoint(address: str) -> tuple[str, int]:
    """Return the host, without brackets, and the port of HOST:PORT; raise BadInput.

    A port alone is one of this machine.
    """
    address = f"127.0.0.1:{address}" if address.isdecimal() else address
    host, colon, port = address.rpartition(":")
    bare = host.removeprefix("[").removesuffix("]")
    if not (colon and host and port.isdecimal() and port.isascii() and int(port) < 2**16):
        raise BadInput(f"{address!r} is not HOST:PORT", "for example 127.0.0.1:8765, or [::1]:8765")
    if ":" in bare and host == bare:
        raise BadInput(
            f"{address!r}: an IPv6 address needs brackets",
            "write [{bare}]:{port}",
            bare=bare,
            port=str(port),
        )
    return bare, int(port)


def _bind_error(host: str, port: int, error: OSError) -> BadInput:
    if error.errno == errno.EADDRINUSE:
        hint = "choose another with --http HOST:PORT; port 0 is any free one"
        return BadInput(f"port {port} of {host} is in use", hint)
    if error.errno == errno.EADDRNOTAVAIL:
        return BadInput(f"{host} is not an address of this machine", "for example 127.0.0.1")
    return BadInput(f"can't listen on {host}:{port}: {error.strerror}", "choose another port")


_SHUTDOWN_SECONDS = 3
"""Seconds that a stopping server waits for running requests."""

LIMITS = Limits()


class Endpoint(NamedTuple):
    """The address of a running server, and what clients need."""

    url: str
    token: Token | None
    """The bearer token that clients must send; None if they need none."""
    remote: bool
    """Whether other machines can reach it."""


def serve(
    application: Callable[[Sequence[str], Token | None], ASGIApp],
    address: str,
    path: str,
    *,
    token: Callable[[bool], Token | None],
    hosts: Sequence[str] = (),
    limits: Limits = LIMITS,
    on_start: Callable[[Endpoint], None],
) -> None:
    """Serve an application until SIGINT, which is raised as KeyboardInterrupt, or SIGTERM.

    `application` gets the host names that it answers to, without ports, and the token that it
    asks for, if any. `path` is that of the URL, `token` returns the token for an address that other
    machines can reach or not, `hosts` are further host names that clients may use, and `on_start`
    is called once clients can connect. Raises BadInput for an address that can't be listened on.
    """
    with listen(address) as listener:
        host, port = listener.getsockname()[:2]
        remote = not ipaddress.ip_address(host).is_loopback
        secret = token(remote)
        app = application(list_host_names(parse_endpoint(address)[0], host, hosts), secret)
        on_start(Endpoint(f"http://{url_host(host)}:{port}{path}", secret, remote))
        server = Server(_make_config(app, limits))
        try:
            anyio.run(server.serve, [listener])
        except SystemExit:
            if not server.should_exit:  # SIGTERM ends the server this way, after running requests
                raise


def same_secret(text: str, expected: bytes) -> bool:
    """Return whether a client gave a secret, in constant time."""
    return compare_digest(text.encode("utf-8", "replace"), expected)


def _make_config(app: ASGIApp, limits: Limits) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=limit_protocol(limits),
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


_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")

_HOST = rb"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::([1-9][0-9]{0,4}))?"

_NAMED = lazy_pattern(_HOST)

_ORIGIN = lazy_pattern(rb"https?://" + _HOST)

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
        refusal = self._refuse(scope["headers"]) if scope["type"] == "http" else None
        await (refusal or self._app)(scope, receive, send)

    def _refuse(self, headers: Sequence[tuple[bytes, bytes]]) -> PlainTextResponse | None:
        hosts = [value for name, value in headers if name == b"host"]
        if len(hosts) != 1 or not self._is_ours(_NAMED.fullmatch(hosts[0])):
            return PlainTextResponse("Host is not a name of this server", 421)
        origins = [value for name, value in headers if name == b"origin"]
        if len(origins) > 1 or not all(
            self._is_ours(_ORIGIN.fullmatch(origin)) for origin in origins
        ):
            return PlainTextResponse("Origin is not a name of this server", 403)
        return None

    def _is_ours(self, match: re.Match[bytes] | None) -> bool:
        return match is not None and match[1] in self._names and int(match[2] or 1) <= _LAST_PORT


def list_host_names(name: str, host: str, more: Sequence[str]) -> list[str]:
    """Return the host names that are allowed for a server on an address."""
    bound = ipaddress.ip_address(host)
    host_names = [name, host, *more]
    if bound.is_loopback or bound.is_unspecified:
        host_names += _LOOPBACK
    if bound.is_unspecified:
        host_names.append(socket.gethostname())
        with suppress(OSError):
            host_names += [str(row[4][0]) for row in socket.getaddrinfo(socket.gethostname(), None)]
    return list(dict.fromkeys(url_host(name) for name in host_names if name))


def url_host(host: str) -> str:
    """Return a host as written in a URL: an IPv6 address in brackets."""
    return f"[{host}]" if ":" in host and not host.startswith("[") else host
