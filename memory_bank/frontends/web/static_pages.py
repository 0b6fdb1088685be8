"""Ask the dashboard for its pages in this process, and name the files that they become."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote, urljoin, urlsplit

from starlette.types import ASGIApp

_NEXT = re.compile(r'<a\b[^>]*\brel="next"[^>]*\bhref="([^"]*)"')
_KINDS = {"text/html": "html", "application/json": "json"}
_UNUSUAL = re.compile(r"[^\w./-]")
_LONGEST = 100
"""Characters of one part of a file's name."""


class Answer(NamedTuple):
    """What the dashboard answers to an address."""

    status: int
    kind: str
    """The media type, without parameters."""
    text: str


async def get(app: ASGIApp, address: str) -> Answer:
    """Ask an application for an address."""
    parts = urlsplit(address)
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": unquote(parts.path),
        "raw_path": parts.path.encode(),
        "query_string": parts.query.encode(),
        "root_path": "",
        "headers": [(b"host", b"localhost")],
        "client": ("127.0.0.1", 1),
        "server": ("localhost", 80),
    }
    head: dict[str, Any] = {}
    body = bytearray()

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:  # noqa: ANN401  (of ASGI)
        if message["type"] == "http.response.start":
            head.update(status=message["status"], headers=dict(message["headers"]))
        else:
            body.extend(message.get("body", b""))

    await app(scope, receive, send)
    kind = head["headers"].get(b"content-type", b"").decode("latin-1").partition(";")[0]
    return Answer(head["status"], kind, body.decode())


class Addresses:
    """The files of addresses; addresses that differ in quoting only have the same file."""

    def __init__(self) -> None:
        self._files: dict[object, str] = {}
        self._taken: set[str] = set()

    def add(self, address: str, kind: str) -> str:
        """Give an address a file for its media type, and return it."""
        made = _file(address, _KINDS[kind])
        if made.casefold() in self._taken:
            stem, _, suffix = made.rpartition(".")
            made = f"{stem}-{_mark(address)}.{suffix}"
        self._taken.add(made.casefold())
        self._files[_key(address)] = made
        return made

    def of(self, address: str) -> str:
        """Return the file of an address; empty if it has none."""
        key = _key(address)
        if key in self._files:
            return self._files[key]
        path, query = key
        # a note is known by the name of its file, too
        return self._files.get((path.removesuffix(".md"), query), "")


def next_page(address: str, text: str) -> str:
    """Return the address of the page after this one; empty if there is none."""
    found = _NEXT.search(text)
    return urljoin(address, found[1].replace("&amp;", "&")) if found else ""


def _key(address: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    parts = urlsplit(address)
    return unquote(parts.path), tuple(parse_qsl(parts.query))


def _file(address: str, suffix: str) -> str:
    path, query = _key(address)
    name = path.strip("/") or "index"
    if query:
        name += "/" + "-".join(f"{key}-{value}" for key, value in query)
    plain = "/".join(_part(part) for part in name.split("/"))
    return f"{plain}.{suffix}"


def _part(name: str) -> str:
    """Return a part of a path that every file system takes, and that tells names apart."""
    plain = _UNUSUAL.sub("-", name)[:_LONGEST].strip(".") or "-"
    return plain if plain == name else f"{plain}-{_mark(name)}"


def _mark(name: str) -> str:
    return sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
