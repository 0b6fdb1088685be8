"""The start page: where to ask, how much there is, what is new, and what needs attention."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from memory_bank.frontends.web.export import exporting
from memory_bank.frontends.web.site import Site
from memory_bank.memory import overview

TITLE = "Home"

PLACE = 10

PATH = "/"


def routes(site: Site) -> Sequence[Route]:
    """Return the route of the start page."""

    async def home(request: Request) -> Response:
        now = site.exported.committed if site.exported else None
        found = await site.ask(overview.overview, now=now)
        if site.exported:
            found = found._replace(lately=exporting.committed(found.lately))
        values = {"overview": found, "health": site.health.latest()}
        return await site.page(request, "home.html", values)

    return [Route(PATH, home)]


def static_paths(_: Site) -> Sequence[str]:
    """Return the addresses that a static site has of it."""
    return [PATH]
