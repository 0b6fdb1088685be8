"""The pictures of the work tree that notes show."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from memory_bank.frontends.web.site import Site
from memory_bank.memory.pictures import picture_type, read_picture

TITLE = "Pictures"

PLACE = None

PATH = "/pictures"

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
"""An SVG that is opened by itself is a page: it runs no script and loads nothing."""


def routes(site: Site) -> Sequence[Route]:
    """Return the route of a picture."""

    async def picture(request: Request) -> Response:
        path = request.path_params["path"]
        data = await site.ask(read_picture, path)
        headers = {"Content-Security-Policy": _POLICY}
        return Response(data, headers=headers, media_type=picture_type(path))

    return [Route(f"{PATH}/{{path:path}}", picture)]
