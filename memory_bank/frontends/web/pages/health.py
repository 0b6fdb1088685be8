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

_MOST = 200


def routes(site: Site) -> Sequence[Route]:
    """Return the routes of the findings, and of their number alone."""

    async def health(request: Request) -> Response:
        values = {"health": site.health.latest(), "most": _MOST}
        return await site.page(request, "health.html", values, title=TITLE)

    async def summary(request: Request) -> Response:
        values = {"health": site.health.latest()}
        # no title: a browser would give it to the page that loads this part
        return await site.page(request, "health_summary.html", values)

    return [Route(PATH, health), Route(f"{PATH}/summary", summary)]


def static_paths(_: Site) -> Sequence[str]:
    """Return the addresses that a static site has of it."""
    return [PATH]
