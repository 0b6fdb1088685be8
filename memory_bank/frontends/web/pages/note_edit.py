"""Change a note: its text, whether it is archived or confirmed, and what is made of a session."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from memory_bank.bank.bank import Bank
from memory_bank.base.errors import (
    BadInput,
    Conflict,
    MemoryBankError,
    NoteNotFound,
    UnreadableNote,
)
from memory_bank.frontends.web.errors import status_of
from memory_bank.frontends.web.note_html import url_of
from memory_bank.frontends.web.site import HINTS, Site
from memory_bank.memory import confirm, create, edit, note_view, show
from memory_bank.memory.edit import Difference
from memory_bank.review.formats.word_diff import spans_of

TITLE = "Edit"

PLACE = None

PATH = "/notes"


class _Done(NamedTuple):
    """What was done to a note."""

    path: str
    warning: str | None = None


def routes(site: Site) -> Sequence[Route]:  # noqa: ARG001  (as every page has it)
    """Return no routes: a dashboard that only reads has no forms."""
    return []


def write_routes(site: Site) -> Sequence[Route]:
    """Return the routes of the form of a note, and of its buttons."""

    async def form(request: Request) -> Response:
        name = request.path_params["name"]
        try:
            values = await site.ask(_form, name)
        except NoteNotFound:
            # a note may have the name "edit"
            note = await site.ask(note_view.find, f"{name}/edit")
            if note is None:
                raise
            return RedirectResponse(f"{PATH}/{quote(url_of(note))}", 303)
        return await site.page(request, "note_edit.html", values, title=TITLE)

    async def save(request: Request) -> Response:
        name = request.path_params["name"]
        given = request.state.form
        text = given.get("text", "").replace("\r\n", "\n").replace("\r", "\n")
        try:
            if given.get("create"):
                await site.ask(create.create, name, text)
                return _back(_Done(name), "created")
            etag = _etag(given)
            done = await site.ask(edit.rewrite, name, text, if_match=etag)
            return await _answer(site, request, _Done(done.path, done.warning), "saved")
        except MemoryBankError as error:
            values = await _refused(site, name, text, given.get("etag", ""), error)
            status = status_of(error)
            return await site.page(request, "note_edit.html", values, title=TITLE, status=status)

    return [
        Route(f"{PATH}/{{name:path}}/edit", form),
        Route(f"{PATH}/{{name:path}}/edit", save, methods=["POST"]),
        *(
            Route(f"{PATH}/{{name:path}}/{word}", _button(site, action, word), methods=["POST"])
            for word, action in _ACTIONS.items()
        ),
    ]


def _button(
    site: Site, action: Callable[[Bank, str, dict[str, str]], _Done], word: str
) -> Callable[[Request], Any]:
    """Return what answers a button of the page of a note."""

    async def pressed(request: Request) -> Response:
        done = await site.ask(action, request.path_params["name"], request.state.form)
        return await _answer(site, request, done, word)

    return pressed


async def _answer(site: Site, request: Request, done: _Done, word: str) -> Response:
    """Lead to the note; a warning is shown first."""
    if not done.warning:
        return _back(done, word)
    values = {"warning": done.warning, "url": url_of(done.path)}
    return await site.page(request, "note_done.html", values, title="Done, with a warning")


def _back(done: _Done, word: str) -> Response:
    return RedirectResponse(f"{PATH}/{quote(url_of(done.path))}?done={word}", 303)


def _form(bank: Bank, name: str) -> dict[str, Any]:
    note = show.show(bank, edit.check_writable(bank, name))
    if not note.writable:
        raise UnreadableNote(f"{note.path}: {note.faults[0].reason}", "convert the file to UTF-8")
    return _values(note.path, note.content, note.etag)


def _values(path: str, text: str, etag: str) -> dict[str, Any]:
    return {
        "path": path,
        "url": url_of(path),
        "text": text.replace("\r\n", "\n").replace("\r", "\n"),
        "etag": etag,
        "problem": "",
        "hint": "",
        "conflict": None,
        "gone": False,
        "words": spans_of,
    }


async def _refused(
    site: Site, name: str, text: str, etag: str, error: MemoryBankError
) -> dict[str, Any]:
    """Return the form with the text as it was sent, and why it was not saved."""
    values = _values(name, text, etag)
    values |= {"problem": site.hide(error.message), "hint": site.hide(error.hint_in(HINTS))}
    if isinstance(error, NoteNotFound):
        return values | {"gone": True}
    if not isinstance(error, Conflict):
        return values
    try:
        found: Difference = await site.ask(edit.difference, name, text)
    except (NoteNotFound, BadInput):
        return values
    return values | {"conflict": found, "etag": found.etag}


def _etag(form: dict[str, str]) -> str:
    """Return the etag of the note that a form is about; one that no note has if it lacks it."""
    return form.get("etag") or "none"


def _archived(bank: Bank, name: str, form: dict[str, str]) -> _Done:
    return _with_status(bank, name, form, "archived")


def _active(bank: Bank, name: str, form: dict[str, str]) -> _Done:
    return _with_status(bank, name, form, "active")


def _with_status(bank: Bank, name: str, form: dict[str, str], status: str) -> _Done:
    done = edit.set_status(bank, name, status, if_match=_etag(form))
    return _Done(done.path, done.warning)


def _confirmed(bank: Bank, name: str, form: dict[str, str]) -> _Done:
    (done,) = confirm.confirm(bank, [name], if_match=_etag(form)).notes
    return _Done(done.path, done.warning)


def _promoted(bank: Bank, name: str, form: dict[str, str]) -> _Done:
    del name  # an observation has its own
    return _Done(confirm.promote(bank, form.get("observation", "")).path)


_ACTIONS = {
    "archive": _archived,
    "restore": _active,
    "confirm": _confirmed,
    "promote": _promoted,
}
