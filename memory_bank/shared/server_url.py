"""Check the URL of a shared index, and say it without its password.

The password goes to the server only: over TLS with a verified certificate, unless the server is on
this machine.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from ipaddress import ip_address
from pathlib import Path

from memory_bank.errors import BadSetting

EMBEDDED = "embedded:"
"""Start of the URL of a server of this machine in a folder, which is started when needed."""
_SCHEMES = ("postgresql://", "postgres://")
_STRICT = "verify-full"
_HINT = "write postgresql://USER@HOST/DATABASE, or embedded:FOLDER"
UNREADABLE = "the URL of the shared index can't be read"
QUOTE = "quote special characters of user and password, as in %40 for @ and %2F for /"
_LOCAL_NAMES = frozenset({"localhost", "localhost.localdomain"})


def check_form(url: str) -> None:
    """Raise BadSetting for what is no URL of a shared index; the error does not show it."""
    if not url.startswith((*_SCHEMES, EMBEDDED)) or "\0" in url:
        raise BadSetting("the URL of the shared index has no known form", _HINT)
    if url.startswith(EMBEDDED) and not url.removeprefix(EMBEDDED).strip():
        raise BadSetting("the URL of the shared index names no folder", _HINT)


def check_parts(given: Mapping[str, str]) -> None:
    """Raise BadSetting if a part may be that of a password with characters that are not quoted."""
    ports = given.get("port", "").replace(",", "")
    host = given.get("host", "")
    names = host.removeprefix("@") + given.get("hostaddr", "") + given.get("dbname", "")
    if (ports and not ports.isdigit()) or "@" in names:
        raise BadSetting(UNREADABLE, QUOTE)


def secured(given: Mapping[str, str], environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the parameters of a connection, with TLS verified unless the server is local.

    Raises BadSetting for a weaker `sslmode`. A service file may name any host, so that it counts as
    another machine.
    """
    found = dict(given)
    if is_local(found, environ):
        return found
    asked = found.get("sslmode") or environ.get("PGSSLMODE") or _STRICT
    if asked != _STRICT:
        raise BadSetting(
            f"sslmode={asked} does not verify the server of the shared index",
            f"remove it, or write sslmode={_STRICT}: its certificate must name the host",
        )
    found["sslmode"] = _STRICT
    found["gssencmode"] = "disable"  # is tried first, and verifies no certificate
    own = Path(environ.get("HOME") or Path.home(), ".postgresql", "root.crt")
    if not (found.get("sslrootcert") or environ.get("PGSSLROOTCERT") or own.exists()):
        found["sslrootcert"] = "system"
    return found


def is_local(given: Mapping[str, str], environ: Mapping[str, str] = os.environ) -> bool:
    """Tell whether a connection stays on this machine: a Unix socket, or a loopback address."""
    if given.get("service") or environ.get("PGSERVICE"):
        return False
    hosts = _listed(given.get("host") or environ.get("PGHOST") or "")
    addresses = _listed(given.get("hostaddr") or environ.get("PGHOSTADDR") or "")
    return all(map(_is_loopback, addresses)) and all(
        not host or host.startswith(("/", "@")) or _is_loopback(host) for host in hosts
    )


def shown(given: Mapping[str, str]) -> str:
    """Return where a server is, without user and password."""
    host = given.get("host") or given.get("hostaddr") or "local socket"
    port = f":{given['port']}" if given.get("port") else ""
    return f"{host}{port}/{given.get('dbname') or given.get('user') or ''}".rstrip("/")


def _listed(hosts: str) -> list[str]:
    return [one.strip() for one in hosts.split(",")] if hosts else []


def _is_loopback(host: str) -> bool:
    if host.lower() in _LOCAL_NAMES:
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
