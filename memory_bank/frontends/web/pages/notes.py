"""The pages of notes: all of them, one with what is known of it, and its history."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from memory_bank.bank.bank import Bank
from memory_bank.base.errors import NoteNotFound
from memory_bank.frontends.web.note_html import namers_of, place_of, render, url_of
from memory_bank.frontends.web.site import Site, number_in
from memory_bank.frontends.web.templating import quoted
from memory_bank.memory import alike, note_view, overview
from memory_bank.memory.alike import Alike
from memory_bank.memory.note_view import PAGE as COMMITS
from memory_bank.memory.note_view import NoteView
from memory_bank.memory.overview import PAGE as NOTES
from memory_bank.review.formats.word_diff import spans_of
from memory_bank.trust import note_status
from memory_bank.trust.note_status import Standing

TITLE = "Notes"

PLACE = 15

PATH = "/notes"

_FILTERS = ("folder", "type", "tag", "cites")

_DONE = {
    "saved": "Saved.",
    "created": "Saved as a new note.",
    "archive": "Archived. It is kept, and search leaves it out.",
    "restore": "Restored: it counts again.",
    "confirm": "Confirmed: it is right for the code of the current commit.",
    "promote": "This note was made of the observation.",
}
"""What is said after a change."""

_MOST_PAGES = 1_000_000

_MOST_NOTES = 1_000_000


def routes(site: Site) -> Sequence[Route]:
    """Return the routes of notes; a note may be named as everywhere, by path, id or title."""

    async def notes(request: Request) -> Response:
        values = await site.ask(_list, request, alone=bool(site.exported))
        return await site.page(request, "notes.html", values, title=TITLE)

    async def note(request: Request) -> Response:
        name = request.path_params["name"]
        full = "full" in request.query_params or bool(site.exported)
        values = await site.ask(_note, name, full=full)
        values["similar"] = () if site.exported else await site.ask(_similar, values["view"])
        values["done"] = _DONE.get(request.query_params.get("done", ""), "")
        return await site.page(request, "note.html", values, title=values["view"].note.title)

    async def standing(request: Request) -> Response:
        values = await site.ask(_standing, request.path_params["name"])
        return await site.page(request, "note_standing.html", values)

    async def history(request: Request) -> Response:
        name = request.path_params["name"]
        try:
            found = await site.ask(note_view.history, name, _from(request))
        except NoteNotFound:
            # a note may have the name "history"
            note = await site.ask(note_view.find, f"{name}/history")
            if note is None:
                raise
            return RedirectResponse(f"{PATH}/{quote(url_of(note))}", 303)
        values = {"history": found, "words": spans_of, "step": COMMITS}
        return await site.page(request, "note_history.html", values, title="History of a note")

    return [
        Route(PATH, notes),
        Route(f"{PATH}/{{name:path}}/history", history),
        Route(f"{PATH}/{{name:path}}/standing", standing),
        Route(f"{PATH}/{{name:path}}", note),
    ]


def static_paths(site: Site) -> Iterator[str]:
    """Yield the addresses that a static site has: notes, their histories, and lists of them.

    A list of many notes names its next page.
    """
    every = overview.browse(site.shared.bank(), archived=True, limit=_MOST_NOTES).notes
    yield PATH
    yield f"{PATH}?archived=1"
    for note in every:
        yield f"{PATH}/{quoted(url_of(note.path))}"
        yield f"{PATH}/{quoted(url_of(note.path))}/history"
    folders = {str(one) for note in every for one in PurePosixPath(note.path).parents}
    tags = {tag for note in every for tag in note.tags}
    chosen = {"folder": folders - {"."}, "type": {note.type for note in every} - {""}, "tag": tags}
    for name, values in chosen.items():
        for value in sorted(values):
            yield f"{PATH}?{urlencode({name: value}, errors='replace')}"


def _from(request: Request) -> int:
    """Return the number of things that the pages before this one have."""
    return number_in(request.query_params.get("from", ""), 0, _MOST_PAGES)


def _list(bank: Bank, request: Request, *, alone: bool) -> dict[str, Any]:
    """Return the values of the list; with `alone`, a filter replaces the others."""
    chosen = {name: request.query_params.get(name, "") for name in _FILTERS}
    archived = request.query_params.get("archived") == "1"
    found = overview.browse(
        bank,
        folder=chosen["folder"],
        type=chosen["type"],
        tag=chosen["tag"],
        cites=chosen["cites"],
        archived=archived,
        offset=_from(request),
    )

    def url(**changes: str | int) -> str:
        """Return the address of the page with other filters, from its start."""
        kept = {} if alone and "from" not in changes else {**chosen, "archived": int(archived)}
        wanted = {**kept, **changes}
        query = urlencode({key: value for key, value in wanted.items() if value}, errors="replace")
        return f"{PATH}?{query}" if query else PATH

    return {"found": found, "chosen": chosen, "archived": archived, "url": url, "step": NOTES}


def _note(bank: Bank, name: str, *, full: bool = False) -> dict[str, Any]:
    view = note_view.view(bank, name)
    text = render(view.note.body, view.goals, title=view.note.title, line=view.body_line)
    standing = _stands(bank, view) if full else None
    url = url_of(view.note.path)
    return {
        "view": view,
        "text": text,
        "standing": standing,
        "place_of": place_of,
        "namers_of": namers_of,
        "url": url,
    }


def _similar(bank: Bank, view: NoteView) -> tuple[Alike, ...]:
    return alike.others_like(bank, view.note.path, view.note.body)


def _standing(bank: Bank, name: str) -> dict[str, Any]:
    view = note_view.view(bank, name)
    return {"view": view, "standing": _stands(bank, view), "url": url_of(view.note.path)}


def _stands(bank: Bank, view: NoteView) -> Standing:
    return note_status.standing(bank, view.note.path, view.verified)
