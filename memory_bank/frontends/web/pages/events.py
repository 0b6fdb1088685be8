"""What changes, as it happens: pages listen to it and load their parts anew."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from memory_bank.frontends.web.live import Live
from memory_bank.frontends.web.site import Site

TITLE = "Events"

PLACE = None

PATH = "/events"

_KIND = "text/event-stream; charset=utf-8"


def routes(site: Site) -> Sequence[Route]:
    """Return the route of the events."""
    live = Live(site.background)

    async def events(request: Request) -> Response:
        if request.method == "HEAD":
            return Response(media_type=_KIND)
        if live.full:
            return PlainTextResponse("too many pages are open", 503, {"Retry-After": "30"})
        messages = live.messages(request.state.stopping)
        return StreamingResponse(messages, media_type=_KIND, headers={"X-Accel-Buffering": "no"})

    return [Route(PATH, events)]
