"""A file of the repository as text, with an anchor for each line: where hits and notes lead."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from memory_bank.code import file_view
from memory_bank.frontends.web.site import Site

TITLE = "Code"

PLACE = None

PATH = "/code"


def routes(site: Site) -> Sequence[Route]:
    """Return the route of a file."""

    async def code(request: Request) -> Response:
        path = request.path_params["path"]
        found = await site.ask_code(file_view.code_view, path)
        return await site.page(request, "code.html", {"found": found}, title=found.path)

    return [Route(f"{PATH}/{{path:path}}", code)]
