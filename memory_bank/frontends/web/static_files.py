"""The files that pages load."""

from __future__ import annotations

import hashlib
from importlib.resources import files
from importlib.resources.abc import Traversable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from memory_bank.base.errors import FileNotFound

PREFIX = "/static"

_KINDS = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "png": "image/png",
    "txt": "text/plain; charset=utf-8",
}

_FOREVER = "public, max-age=31536000, immutable"


class StaticFiles:
    """The files in `static/`, read once; nothing else can be asked for.

    One hash of all files stands in every URL, so that browsers may keep a file for ever, and files
    may name each other.
    """

    def __init__(self) -> None:
        """Read the files."""
        self._files = dict(_read(files("memory_bank.frontends.web") / "static"))
        text = b"".join(name.encode() + b"\0" + data for name, data in sorted(self._files.items()))
        self._hash = hashlib.sha256(text).hexdigest()[:16]

    def url(self, name: str) -> str:
        """Return the URL of a file; raise FileNotFound."""
        if name not in self._files:
            raise FileNotFound(f"static/{name} is not in the package")
        return f"{PREFIX}/{self._hash}/{name}"

    def has(self, path: str) -> bool:
        """Tell whether a URL's path is that of a file."""
        return path in {self.url(name) for name in self._files}

    def route(self) -> Route:
        """Return the route of the files."""
        return Route(f"{PREFIX}/{{version}}/{{name:path}}", self._answer)

    async def _answer(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in self._files or request.path_params["version"] != self._hash:
            raise FileNotFound("there is no such file", "load the page again")
        kind = _KINDS[name.rpartition(".")[2]]
        headers = {"Cache-Control": _FOREVER, "Content-Type": kind}
        return Response(self._files[name], headers=headers)


def _read(folder: Traversable, prefix: str = "") -> list[tuple[str, bytes]]:
    entries = []
    for traversable in folder.iterdir():
        if traversable.is_dir():
            entries += _read(traversable, f"{prefix}{traversable.name}/")
        elif traversable.name.rpartition(".")[2] in _KINDS:
            entries.append((prefix + traversable.name, traversable.read_bytes()))
    return entries
