"""The address that a server listens on."""

from __future__ import annotations

import errno
import os
import socket

from memory_bank.errors import BadInput


def listen(address: str) -> socket.socket:
    """Return a socket that is bound to HOST:PORT; raise BadInput."""
    host, port = parsed(address)
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


def parsed(address: str) -> tuple[str, int]:
    """Return the host, without brackets, and the port of HOST:PORT; raise BadInput."""
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


def _refused(host: str, port: int, error: OSError) -> BadInput:
    if error.errno == errno.EADDRINUSE:
        hint = "choose another with --http HOST:PORT; port 0 is any free one"
        return BadInput(f"port {port} of {host} is in use", hint)
    if error.errno == errno.EADDRNOTAVAIL:
        return BadInput(f"{host} is not an address of this machine", "for example 127.0.0.1")
    return BadInput(f"can't listen on {host}:{port}: {error.strerror}", "choose another port")
