"""What the rules found, the most severe first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from memory_bank.base.errors import MemoryBankError
from memory_bank.frontends.web.site import Site

TITLE = "Health"

PLACE = None

PATH = "/health"


def routes(site: Site) -> Sequence[Route]:
    """Return the routes of the findings, and of the few lines of them on the start page."""

    async def health(request: Request) -> Response:
        values = {"health": await to_thread.run_sync(site.check_health)}
        return await site.page(request, "health.html", values, title=TITLE)

    async def attention(request: Request) -> Response:
        values: dict[str, Any] = {"health": None}
        try:
            values["health"] = await to_thread.run_sync(site.check_health)
        except MemoryBankError as error:
            values["problem"] = site.hide(error.message)
        return await site.page(request, "attention.html", values)

    return [Route(PATH, health), Route(f"{PATH}/attention", attention)]
