"""The files that pages load, and the folder of a static site."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from memory_bank.bank import output_files
from memory_bank.base.errors import BadInput, FileNotFound, StorageFailed
from memory_bank.base.filenames import outside
from memory_bank.base.rendering import document

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
        every = b"".join(name.encode() + b"\0" + data for name, data in sorted(self._files.items()))
        self._hash = hashlib.sha256(every).hexdigest()[:16]

    def url(self, name: str) -> str:
        """Return the URL of a file; raise FileNotFound."""
        if name not in self._files:
            raise FileNotFound(f"static/{name} is not in the package")
        return f"{PREFIX}/{self._hash}/{name}"

    def has(self, path: str) -> bool:
        """Tell whether a URL's path is that of a file."""
        return path in {self.url(name) for name in self._files}

    def all(self) -> Iterator[tuple[str, bytes]]:
        """Yield the path of each file's URL, without the first slash, and its content."""
        for name, data in self._files.items():
            yield self.url(name).removeprefix("/"), data

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
    found = []
    for one in folder.iterdir():
        if one.is_dir():
            found += _read(one, f"{prefix}{one.name}/")
        elif one.name.rpartition(".")[2] in _KINDS:
            found.append((prefix + one.name, one.read_bytes()))
    return found


LIST = ".memory-bank-site.json"
"""The file that lists what was made, so that the next time can remove it."""

_FORMAT = 1


class SiteFolder:
    """A folder that becomes a static site."""

    def __init__(self, folder: Path) -> None:
        """Take a folder that is empty, or has a static site; raise BadInput for any other.

        Raises BadInput, too, if a symbolic link of a repository leads to it, and StorageFailed.
        """
        self._folder = output_files.folder(folder)
        try:
            self._old = self._listed()
        except OSError as error:
            raise self._failed("", error) from error
        self._new: set[str] = set()

    def write(self, name: str, data: bytes) -> None:
        """Write a file, unless it is as it should be.

        Raises BadInput if a symbolic link is on the way to it, StorageFailed.
        """
        self._new.add(name)
        self._put(name, data)

    @property
    def count(self) -> int:
        """The number of files that were written or stayed."""
        return len(self._new)

    def finish(self, about: Mapping[str, object]) -> tuple[str, ...]:
        """List what was made, remove what was made before only, and return that."""
        gone = sorted(self._old - self._new)
        for name in gone:
            self._remove(name)
        self._new.discard(LIST)
        listed = {"format": _FORMAT, **about, "files": sorted(self._new)}
        self._put(LIST, f"{document(listed, indent=1)}\n".encode())
        return tuple(gone)

    def _listed(self) -> set[str]:
        """Return the files that the list of the site before has; raise BadInput, OSError."""
        names = self._folder.names()
        if not names:
            return set()
        if LIST in names and self._folder.may_be_tracked(LIST):
            raise BadInput(
                f"git tracks {self._folder.shown / LIST}, which says what may be replaced: somebody"
                " else may have written it, so that nothing was written",
                "name another folder; if the list is yours: git rm --cached, and ignore it",
            )
        try:
            found = json.loads(output_files.read(self._folder, LIST))
            files = found["files"] if found["format"] == _FORMAT else None
        except (ValueError, KeyError, TypeError, RecursionError):
            files = None
        if not isinstance(files, list) or not all(isinstance(one, str) for one in files):
            raise BadInput(
                f"{self._folder.shown} is not empty, and has no static site: nothing was written",
                "name an empty or a new folder with --output",
            )
        return {one for one in files if not outside(one)}

    def _put(self, name: str, data: bytes) -> None:
        try:
            with self._folder.file(name, make=True) as file:
                output_files.put(file, data)
        except OSError as error:
            raise self._failed(name, error) from error

    def _remove(self, name: str) -> None:
        """Remove a file, and the folders that it leaves empty; what is behind a link stays."""
        try:
            with suppress(BadInput, FileNotFoundError, NotADirectoryError):
                with self._folder.file(name) as file:
                    file.unlink()
                self._remove_empty(name.rpartition("/")[0])
        except OSError as error:
            raise self._failed(name, error) from error

    def _remove_empty(self, folder: str) -> None:
        while folder:
            with self._folder.file(folder) as place:
                try:
                    place.rmdir()
                except OSError:
                    return  # other files are in it
            folder = folder.rpartition("/")[0]

    def _failed(self, name: str, error: OSError) -> StorageFailed:
        place = self._folder.shown / name
        return StorageFailed(f"{place} can't be written: {error.strerror}", "check the folder")
