"""Errors as pages: what is wrong, where, and what to do next."""

from __future__ import annotations

from http import HTTPStatus

from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from memory_bank.base import errors
from memory_bank.base.errors import MemoryBankError
from memory_bank.frontends.web import access
from memory_bank.frontends.web.site import HINTS, Site
from memory_bank.frontends.web.templating import note_url

STATUS: dict[type[Exception], int] = {
    errors.BadInput: 400,
    errors.SecretFound: 422,
    errors.NoBank: 404,
    errors.NoRepository: 404,
    errors.FileNotFound: 404,
    errors.SymbolNotFound: 404,
    errors.NoteNotFound: 404,
    errors.NoteExists: 409,
    errors.Conflict: 409,
    errors.UnreadableNote: 422,
    errors.NoteReadOnly: 403,
    errors.StorageFailed: 507,
    errors.Busy: 503,
    errors.IndexDamaged: 500,
    errors.EmbedderUnavailable: 503,
    errors.SharedUnavailable: 503,
    errors.PluginFailed: 500,
    errors.Exhausted: 503,
}
"""The status of each class of errors; a subclass has that of its nearest base."""

_NEXT = {
    404: "go to the start page, or search",
    405: "go back, and use the links and buttons of the page",
}

_SIGN = "\0"
"""Stands around names in a hint until they are links; no name has it."""

_FAULT = "The server made a mistake, which is logged where it was started"


def status_of(error: MemoryBankError) -> int:
    """Return the HTTP status of an error."""
    return next((STATUS[kind] for kind in type(error).__mro__ if kind in STATUS), 500)


def _between(names: str) -> str:
    return f"{_SIGN}{names}{_SIGN}"


def _with_links(hint: str) -> Markup:
    """Return a hint in which the names of notes, between signs, lead to their pages."""
    said = Markup()
    for number, part in enumerate(hint.split(_SIGN)):
        link = Markup('<a class="link" href="{}">{}</a>')
        links = [link.format(note_url(name), name) for name in part.split(", ")]
        said += Markup(", ").join(links) if number % 2 else part
    return said


class ErrorPages:
    """Turns errors into responses."""

    def __init__(self, site: Site) -> None:
        self._site = site

    async def refusal(self, request: Request, status: int, what: str, hint: str) -> Response:
        """Return the page of an error."""
        phrase = HTTPStatus(status).phrase
        values = {"what": what, "where": request.url.path, "next": hint, "status": status}
        return await self._site.page(request, "error.html", values, title=phrase, status=status)

    async def locked(self, request: Request) -> Response:
        """Return the page for those who have no token; it says nothing of the bank."""
        response = await self._site.bare_page("locked.html", status=HTTPStatus.FORBIDDEN)
        if access.may_be_known(request):
            response.headers["Refresh"] = "0"
        return response

    async def known(self, request: Request, error: Exception) -> Response:
        """Return the page of an error of the bank."""
        assert isinstance(error, MemoryBankError)  # noqa: S101
        hide = self._site.hide
        what, hint = hide(error.message), hide(error.hint_in(HINTS, _between))
        shown = _with_links(hint) if isinstance(error, errors.NoteNotFound) else hint
        return await self.refusal(request, status_of(error), what, shown.replace(_SIGN, ""))

    async def http(self, request: Request, error: Exception) -> Response:
        """Return the page of an address or a method that does not exist."""
        assert isinstance(error, HTTPException)  # noqa: S101
        what = (
            "There is no such page" if error.status_code == HTTPStatus.NOT_FOUND else error.detail
        )
        hint = _NEXT.get(error.status_code, "")
        response = await self.refusal(request, error.status_code, what, hint)
        response.headers.update(error.headers or {})
        return response

    async def exhausted(self, _: Request, error: Exception) -> Response:
        """Return a text if memory or threads ran out, since a page needs some; else raise."""
        plain = errors.exhausted(error)
        if plain is None:
            raise error
        return PlainTextResponse(f"{plain.message}\n{plain.hint}\n", status_of(plain))

    async def unknown(self, request: Request, _: Exception) -> Response:
        """Return the page of a fault of ours, which the server logs."""
        return await self.refusal(request, 500, _FAULT, "try again; if it stays, report it")
