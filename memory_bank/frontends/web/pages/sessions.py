"""What agents did: the sessions by day, and one session with what it was asked and learned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from memory_bank.base.errors import MemoryBankError
from memory_bank.frontends.hints import PAGE_HINTS
from memory_bank.frontends.web import app
from memory_bank.frontends.web.site import Site, read_number
from memory_bank.frontends.web.templating import quote_path
from memory_bank.memory import confirm, overview
from memory_bank.sessions import listing
from memory_bank.sessions.listing import SessionTimeline

TITLE = "Sessions"

PLACE = 40

PATH = "/sessions"

_PAGE = 50

_FILTERS = ("agent", "project", "from", "to")


def routes(site: Site) -> Sequence[Route]:
    """Return the routes of the list and of a session."""

    async def sessions(request: Request) -> Response:
        query_params = request.query_params
        chosen = {name: query_params.get(name, "").strip() for name in _FILTERS}
        page = _read_page(query_params.get("page"))
        timeline = await site.ask(
            listing.session_timeline,
            agent=_read_agent(chosen),
            project=chosen["project"],
            first_day=chosen["from"],
            last_day=chosen["to"],
            limit=_PAGE,
            offset=(page - 1) * _PAGE,
        )
        totals = await site.ask(overview.read_overview)
        values = {"totals": totals, "found": timeline, "chosen": chosen, "unnamed": _UNNAMED}
        values |= _list_pages(timeline, chosen)
        return await site.page(request, "sessions.html", values, title=TITLE)

    async def session(request: Request) -> Response:
        return await _show_session(site, request, {})

    return [Route(PATH, sessions), Route(f"{PATH}/{{name:path}}", session)]


def write_routes(site: Site) -> Sequence[Route]:
    """Return the route that makes a note of an observation or a summary."""

    async def promote(request: Request) -> Response:
        form = request.state.form
        part = form.get("of", "")
        try:
            await site.ask(
                confirm.promote,
                part,
                type=form.get("type", "").strip(),
                name=form.get("name", "").strip(),
            )
        except MemoryBankError as error:
            fields = {"of": part, "what": site.hide(error.message)}
            fields["next"] = site.hide(error.hint_in(PAGE_HINTS))
            refused = {"said": {**form, **fields}, "status": app.http_status(error)}
            return await _show_session(site, request, refused)
        where = f"{PATH}/{quote_path(request.path_params['name'])}?{urlencode({'at': part})}"
        return RedirectResponse(f"{where}#{quote_path(part)}", 303)

    return [Route(f"{PATH}/{{name:path}}", promote, methods=["POST"])]


_UNNAMED = "-"
"""Stands in an address for sessions without the name of an agent."""


def _read_agent(chosen: Mapping[str, str]) -> str | None:
    agent = chosen["agent"]
    return "" if agent == _UNNAMED else agent or None


async def _show_session(site: Site, request: Request, refused: Mapping[str, Any]) -> Response:
    """Return the page of a session; `refused` says which form was refused, and why."""
    query_params = request.query_params
    form_values = refused.get("said", {})
    view = await site.ask(
        listing.view_session,
        request.path_params["name"],
        page=_read_page(query_params.get("page")),
        at=form_values.get("of") or query_params.get("at", ""),
    )
    values = {"view": view, "said": form_values}
    title = f"{view.entry.title} · {TITLE}"
    status = refused.get("status", 200)
    return await site.page(request, "session.html", values, title=title, status=status)


def _read_page(text: str | None) -> int:
    """Return the number of a page; the first for anything else."""
    return max(1, read_number(text or "", 1))


def _list_pages(timeline: SessionTimeline, chosen: Mapping[str, str]) -> dict[str, Any]:
    """Return the addresses of the pages before and after this one."""
    page_number = timeline.offset // _PAGE + 1

    def url(page: int) -> str:
        filters = {name: value for name, value in chosen.items() if value}
        return f"{PATH}?{urlencode({**filters, 'page': page})}"

    more = timeline.offset + timeline.count < timeline.total
    return {
        "newer": url(page_number - 1) if page_number > 1 else "",
        "older": url(page_number + 1) if more else "",
    }
