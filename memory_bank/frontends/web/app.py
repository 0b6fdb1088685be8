"""Serve the dashboard of a bank to browsers: pages and static files, behind their guards."""

from __future__ import annotations

import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from html import escape
from http import HTTPStatus
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

from anyio import to_thread
from markupsafe import Markup
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memory_bank.base import errors
from memory_bank.base.errors import BadInput, MemoryBankError
from memory_bank.frontends.hints import PAGE_HINTS
from memory_bank.frontends.serving.connections import BODY, Bodies
from memory_bank.frontends.serving.endpoint import (
    LIMITS,
    Endpoint,
    Hosts,
    Token,
    new_token,
    read_token,
    serve,
)
from memory_bank.frontends.web.site import (
    TOKEN_FIELD,
    Site,
    enter_page,
    is_ours,
    may_enter,
    may_have_cookie,
    read_form,
)
from memory_bank.frontends.web.templating import StaticFiles, note_url

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


def http_status(error: MemoryBankError) -> int:
    """Return the HTTP status of an error."""
    return next((STATUS[kind] for kind in type(error).__mro__ if kind in STATUS), 500)


def _mark_names(names: str) -> str:
    return f"{_SIGN}{names}{_SIGN}"


def _link_hint(hint: str) -> Markup:
    """Return a hint in which the names of notes, between signs, lead to their pages."""
    markup = Markup()
    for number, part in enumerate(hint.split(_SIGN)):
        link = Markup('<a class="link" href="{}">{}</a>')
        links = [link.format(note_url(name), name) for name in part.split(", ")]
        markup += Markup(", ").join(links) if number % 2 else part
    return markup


class ErrorPages:
    """Turns errors into responses."""

    def __init__(self, site: Site) -> None:
        self._site = site

    async def error_page(self, request: Request, status: int, text: str, hint: str) -> Response:
        """Return the page of an error."""
        phrase = HTTPStatus(status).phrase
        values = {"what": text, "where": request.url.path, "next": hint, "status": status}
        return await self._site.page(request, "error.html", values, title=phrase, status=status)

    async def locked(self, request: Request) -> Response:
        """Return the page for those who have no token; it says nothing of the bank."""
        response = await self._site.locked_page()
        if may_have_cookie(request):
            response.headers["Refresh"] = "0"
        return response

    async def known(self, request: Request, error: Exception) -> Response:
        """Return the page of an error of the bank."""
        assert isinstance(error, MemoryBankError)  # noqa: S101
        hide = self._site.hide
        message, hint = hide(error.message), hide(error.hint_in(PAGE_HINTS, _mark_names))
        links = _link_hint(hint) if isinstance(error, errors.NoteNotFound) else hint
        return await self.error_page(request, http_status(error), message, links.replace(_SIGN, ""))

    async def http(self, request: Request, error: Exception) -> Response:
        """Return the page of an address or a method that does not exist."""
        assert isinstance(error, HTTPException)  # noqa: S101
        text = (
            "There is no such page" if error.status_code == HTTPStatus.NOT_FOUND else error.detail
        )
        hint = _NEXT.get(error.status_code, "")
        response = await self.error_page(request, error.status_code, text, hint)
        response.headers.update(error.headers or {})
        return response

    async def exhausted_text(self, _: Request, error: Exception) -> Response:
        """Return a text if memory or threads ran out, since a page needs some; else raise."""
        failure = errors.find_exhausted(error)
        if failure is None:
            raise error
        return PlainTextResponse(f"{failure.message}\n{failure.hint}\n", http_status(failure))

    async def unknown(self, request: Request, _: Exception) -> Response:
        """Return the page of a fault of ours, which the server logs."""
        return await self.error_page(request, 500, _FAULT, "try again; if it stays, report it")


POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)

HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    # not `no-referrer`: then browsers send forms with the origin `null`, which is refused
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}

_READS = frozenset({"GET", "HEAD"})


class Headers:
    """A middleware that adds the headers of safety to every response; pages are not cached."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and add headers to the response."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in {**HEADERS, "Cache-Control": "no-store"}.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, send_with_headers)


class Entrance:
    """A middleware that asks for the token, except for files of the package."""

    def __init__(self, app: ASGIApp, pages: ErrorPages, token: Token, static: StaticFiles) -> None:
        self._app, self._pages, self._token, self._static = app, pages, token, static

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it with 403."""
        answer: ASGIApp = self._app
        if scope["type"] == "http":
            request = Request(scope)
            public = self._static.has(request.url.path)
            if response := enter_page(request, self._token):
                answer = response
            elif not public and not may_enter(request, self._token.value):
                answer = await self._pages.locked(request)
        await answer(scope, receive, send)


class Forms:
    """A middleware that refuses requests that would write, or have no token of a form.

    If the dashboard may write, the fields of a form are in `request.state.form`.
    """

    def __init__(self, app: ASGIApp, pages: ErrorPages, *, secret: bytes, write: bool) -> None:
        self._app, self._pages = app, pages
        self._secret, self._write = secret, write

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it with 405 or 403."""
        if scope["type"] != "http" or scope["method"] in _READS:
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        if not self._write:
            hint = "start it with --write to change notes here"
            error_page = await self._pages.error_page(
                request, 405, "This dashboard only reads", hint
            )
            error_page.headers["Allow"] = ", ".join(sorted(_READS))
            await error_page(scope, receive, send)
            return
        form = read_form(scope[BODY], request.headers.get("content-type", ""))
        if not is_ours(request, form, self._secret):
            hint = "load the page again, then repeat; the dashboard may have been started anew"
            error_page = await self._pages.error_page(
                request, 403, "The form is not from this dashboard", hint
            )
            await error_page(scope, receive, send)
            return
        request.state.form = form
        await self._app(scope, receive, send)


def build_application(site: Site, names: Sequence[str], token: Token | None) -> ASGIApp:
    """Return the ASGI application of a dashboard behind all of its guards."""
    pages = ErrorPages(site)

    @asynccontextmanager
    async def run_background(_: Starlette) -> AsyncIterator[None]:
        threading.Thread(target=site.start, name="start", daemon=True).start()
        try:
            yield
        finally:
            await to_thread.run_sync(site.background.close)

    app = Starlette(
        routes=[site.static.route(), *site.routes()],
        middleware=[Middleware(GZipMiddleware, minimum_size=1000)],
        exception_handlers={
            MemoryBankError: pages.known,
            HTTPException: pages.http,
            **dict.fromkeys((MemoryError, RuntimeError, OSError), pages.exhausted_text),
            Exception: pages.unknown,
        },
        lifespan=run_background,
    )
    app.router.redirect_slashes = False  # one address for each page
    inner: ASGIApp = Forms(app, pages, secret=site.secret, write=site.write)
    inner = Bodies(inner, LIMITS.body_bytes)
    if token:
        inner = Entrance(inner, pages, token, site.static)
    return Headers(Hosts(inner, names))


_REDIRECT = """\
<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={0}">
<title>memory bank</title>
<p><a href="{0}">Open the dashboard</a></p>
"""

_ANY = ("//0.0.0.0:", "//[::]:")


def serve_web(
    site: Site,
    address: str,
    *,
    token_file: Path | None = None,
    no_token: bool = False,
    hosts: Sequence[str] = (),
    on_start: Callable[[Endpoint], None],
) -> None:
    """Serve a dashboard, as `serve` does, and close the bank at the end.

    Its token is that of a file, else a new one on a loopback address; with `no_token` it has none.
    Raises BadInput for `no_token` on an address that other machines can reach.
    """

    def choose_token(remote: bool) -> Token | None:  # noqa: FBT001  (as `serve` calls it)
        if not no_token:
            return read_token(token_file) if remote or token_file else new_token()
        if remote:
            raise BadInput(
                f"other machines can reach {address}: there a token is needed",
                "leave out --no-token, or listen on 127.0.0.1",
            )
        return None

    try:
        serve(
            partial(build_application, site),
            address,
            "/",
            token=choose_token,
            hosts=hosts,
            on_start=on_start,
        )
    finally:
        site.shared.close()


@contextmanager
def redirect_file(address: str) -> Iterator[str]:
    """Write a private file that leads a browser to an address; yield its URL.

    The arguments of a browser can be read by every user of the machine, this file by one alone.
    """
    with TemporaryDirectory(prefix="memory-bank-open-", ignore_cleanup_errors=True) as folder:
        file = Path(folder) / "dashboard.html"
        file.touch(0o600)
        file.write_text(_REDIRECT.format(escape(address)), encoding="utf-8")
        yield file.as_uri()


def first_address(endpoint: Endpoint) -> str:
    """Return the address to open first: with the token, where one is needed."""
    url = endpoint.url
    for any_address in _ANY:
        url = url.replace(any_address, f"//{socket.gethostname()}:")
    if endpoint.token is None:
        return url
    return f"{url}?{TOKEN_FIELD}={quote(endpoint.token.value.decode(), safe='')}"
