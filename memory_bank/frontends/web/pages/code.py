"""A file of the repository: as text, where hits and notes lead, or as a picture in a note."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from memory_bank.base import NamedTuple
from memory_bank.base.errors import FileNotFound, Hint, did_you_mean, similar_names
from memory_bank.code.index.codebase import Codebase
from memory_bank.code.lookup import path_below
from memory_bank.frontends.web.site import Site
from memory_bank.memory.note_view import picture_type, read_picture
from memory_bank.notes.secrets import secrets

MOST_LINES = 20_000
"""Lines of a file that are shown."""

HIDDEN = "•••"
"""Stands for what looks like a secret."""


class CodeView(NamedTuple):
    """A file, or why it is not shown."""

    path: str
    """Below the work tree."""
    lines: tuple[str, ...]
    refused: str = ""
    """Why it is not shown."""
    left_out: int = 0
    """Lines after the last one that is shown."""
    hidden: int = 0
    """Number of texts that look like secrets, which are not shown."""


def code_view(code: Codebase, path: str) -> CodeView:
    """Return a file of the work tree: one that git tracks, or would track.

    Raises BadInput if code is turned off or the path leads out of the work tree, FileNotFound for
    any other file.
    """
    code.check_enabled()
    path = path_below(code.root, path)
    scan = code.tree.scan()
    if path in scan.refused:
        return CodeView(path, (), refused=scan.refused[path])
    read = code.tree.read(path) if path in scan.files else None
    if read is None:
        near = similar_names(path, scan.files)
        raise FileNotFound(f"there is no file {path}{did_you_mean(near)}", Hint.LIST_NOTES)
    if read.reason:
        return CodeView(path, (), refused=read.reason)
    text, hidden = _redact_secrets(
        read.data.decode("utf-8", "replace"), code.settings.secrets.allow
    )
    lines = text.replace("\r\n", "\n").removesuffix("\n").split("\n")
    left_out = max(0, len(lines) - MOST_LINES)
    return CodeView(path, tuple(lines[:MOST_LINES]), left_out=left_out, hidden=hidden)


def _redact_secrets(text: str, allowed: tuple[str, ...]) -> tuple[str, int]:
    """Return a text without what looks like a secret, with the same number of lines."""
    all_secrets = secrets.find(text, allowed)
    for secret in reversed(all_secrets):
        inside = text[secret.start : secret.end]
        text = text[: secret.start] + HIDDEN + "\n" * inside.count("\n") + text[secret.end :]
    return text, len(all_secrets)


TITLE = "Code"

PLACE = None

PATH = "/code"

_PICTURE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
"""An SVG that is opened by itself is a page: it runs no script and loads nothing."""


def routes(site: Site) -> Sequence[Route]:
    """Return the routes of a file with an anchor for each line, and of a picture."""

    async def code(request: Request) -> Response:
        path = request.path_params["path"]
        view = await site.ask_code(code_view, path)
        return await site.page(request, "code.html", {"found": view}, title=view.path)

    async def picture(request: Request) -> Response:
        path = request.path_params["path"]
        data = await site.ask(read_picture, path)
        headers = {"Content-Security-Policy": _PICTURE_POLICY}
        return Response(data, headers=headers, media_type=picture_type(path))

    return [Route(f"{PATH}/{{path:path}}", code), Route("/pictures/{path:path}", picture)]
