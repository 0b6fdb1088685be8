"""What the rules found, the most severe first."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from memory_bank.frontends.web.site import Site

TITLE = "Health"

PLACE = None

PATH = "/health"


def routes(site: Site) -> Sequence[Route]:
    """Return the route of the findings."""

    async def health(request: Request) -> Response:
        values = {"health": site.health.latest()}
        return await site.page(request, "health.html", values, title=TITLE)

    return [Route(PATH, health)]
