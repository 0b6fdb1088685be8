"""The pages of notes: all of them, one with what is known of it, and its history."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from memory_bank.bank.backlinks import list_linked_titles
from memory_bank.bank.bank import Bank
from memory_bank.frontends.web.note_html import note_address, render, source_link
from memory_bank.frontends.web.site import Site, read_number
from memory_bank.frontends.web.templating import url_of
from memory_bank.memory import note_view, overview
from memory_bank.memory.note_view import PAGE as COMMITS
from memory_bank.memory.note_view import NoteView
from memory_bank.memory.overview import PAGE as NOTES
from memory_bank.notes.note_change import claim_spans
from memory_bank.trust import provenance
from memory_bank.trust.provenance import NoteStatus

TITLE = "Notes"

PLACE = 15

PATH = "/notes"

_FILTERS = ("folder", "type", "tag", "cites")

_DONE = {
    "saved": "Saved.",
    "created": "Saved as a new note.",
    "known": "The same was known already: this note has it, with your tags added.",
    "archive": "Archived. It is kept, and search leaves it out.",
    "restore": "Restored: it counts again.",
    "confirm": "Confirmed: it is right for the code of the current commit.",
    "promote": "This note was made of the observation.",
}
"""Messages after a change."""

_RELATIONS = frozenset(
    {"extends", "supersedes", "contradicts", "depends_on", "implements", "tests", "refactors"}
)
"""Types of links that read as a sentence: one note extends another."""

_MOST_PAGES = 1_000_000

_MOST_QUOTED = 200
"""Notes that link to a note whose words are shown."""


def routes(site: Site) -> Sequence[Route]:
    """Return the routes of notes; a note may be named as everywhere, by path, id or title."""

    async def notes(request: Request) -> Response:
        values = await site.ask(_list_values, request)
        return await site.page(request, "notes.html", values, title=TITLE)

    async def note(request: Request) -> Response:
        name = request.path_params["name"]
        full = "full" in request.query_params
        values = await site.ask(_note_values, name, full=full)
        values["done"] = _DONE.get(request.query_params.get("done", ""), "")
        return await site.page(request, "note.html", values, title=values["view"].note.title)

    async def standing(request: Request) -> Response:
        values = await site.ask(_fill_standing, request.path_params["name"])
        return await site.page(request, "note_standing.html", values)

    async def history(request: Request) -> Response:
        name = request.path_params["name"]
        # a note may have the name "history", and a part of a name finds a note, too
        if await site.ask(note_view.find_exactly, name) is None:
            note = await site.ask(note_view.find_exactly, f"{name}/history")
            if note is not None:
                return RedirectResponse(f"{PATH}/{quote(url_of(note))}", 303)
        note_history = await site.ask(note_view.read_history, name, _read_offset(request))
        values = {"history": note_history, "words": claim_spans, "step": COMMITS}
        return await site.page(request, "note_history.html", values, title="History of a note")

    return [
        Route(PATH, notes),
        Route(f"{PATH}/{{name:path}}/history", history),
        Route(f"{PATH}/{{name:path}}/standing", standing),
        Route(f"{PATH}/{{name:path}}", note),
    ]


def _read_offset(request: Request) -> int:
    """Return the number of notes or commits on the pages before this one."""
    return read_number(request.query_params.get("from", ""), 0, _MOST_PAGES)


def _list_values(bank: Bank, request: Request) -> dict[str, Any]:
    """Return the values of the list."""
    chosen = {name: request.query_params.get(name, "") for name in _FILTERS}
    archived = request.query_params.get("archived") == "1"
    page = overview.browse(
        bank,
        folder=chosen["folder"],
        type=chosen["type"],
        tag=chosen["tag"],
        cites=chosen["cites"],
        archived=archived,
        offset=_read_offset(request),
    )

    def url(**changes: str | int) -> str:
        """Return the address of the page with other filters, from its start."""
        filters = {**chosen, "archived": int(archived)}
        fields = {**filters, **changes}
        query = urlencode({key: value for key, value in fields.items() if value}, errors="replace")
        return f"{PATH}?{query}" if query else PATH

    return {
        "found": page,
        "all": sum(page.types.values()),
        "types": {name: number for name, number in page.types.items() if name},
        "folder": bank.layout.root.name,
        "chosen": chosen,
        "archived": archived,
        "url": url,
        "step": NOTES,
    }


def _note_values(bank: Bank, name: str, *, full: bool = False) -> dict[str, Any]:
    view = note_view.view_note(bank, name)
    sources = view.note.sources or ()
    text = render(view.note.body, view.goals, title=view.note.title, sources=sources)
    standing = _read_standing(bank, view) if full else None
    url = url_of(view.note.path)
    return {
        "view": view,
        "text": text,
        "standing": standing,
        "standing_alone": False,
        "place_of": note_address,
        "source_link": source_link,
        "relations": _RELATIONS,
        "titles": list_linked_titles(bank, [row.key for row, _ in view.backlinks[:_MOST_QUOTED]]),
        "url": url,
    }


def _fill_standing(bank: Bank, name: str) -> dict[str, Any]:
    view = note_view.view_note(bank, name)
    return {
        "view": view,
        "standing": _read_standing(bank, view),
        "standing_alone": True,
        "url": url_of(view.note.path),
    }


def _read_standing(bank: Bank, view: NoteView) -> NoteStatus:
    return provenance.read_note_status(bank, view.note.path, view.verified)
