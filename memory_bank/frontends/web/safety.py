"""What guards every page: host names, the token, sizes, tokens of forms, and headers."""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memory_bank.frontends.serving.connections import BODY, Bodies
from memory_bank.frontends.serving.endpoint import LIMITS, Hosts, RequestGuard, Token
from memory_bank.frontends.web import access
from memory_bank.frontends.web.error_pages import ErrorPages
from memory_bank.frontends.web.site import Site
from memory_bank.frontends.web.site_folder import StaticFiles

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


def guarded(app: ASGIApp, guard: RequestGuard, pages: ErrorPages, site: Site) -> ASGIApp:
    """Return an application behind all of its guards."""
    inner: ASGIApp = Forms(app, pages, secret=site.secret, write=site.write)
    inner = Bodies(inner, LIMITS.body_bytes)
    if guard.token:
        inner = Entrance(inner, pages, guard.token, site.static)
    return Headers(Hosts(inner, guard.names))


class Headers:
    """A middleware that adds the headers of safety to every response; pages are not cached."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and add headers to the response."""

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        await self._app(scope, receive, sending)


class Entrance:
    """A middleware that asks for the token, but for the files that belong to the package."""

    def __init__(self, app: ASGIApp, pages: ErrorPages, token: Token, static: StaticFiles) -> None:
        self._app, self._pages, self._token, self._static = app, pages, token, static

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it with 403."""
        answer: ASGIApp = self._app
        if scope["type"] == "http":
            request = Request(scope)
            public = self._static.has(request.url.path)
            if found := access.entered(request, self._token):
                answer = found
            elif not public and not access.may_enter(request, self._token.value):
                answer = await self._pages.locked(request)
        await answer(scope, receive, send)


class Forms:
    """A middleware that refuses what would write: all of it, unless the dashboard writes.

    Then it must have a token of a form. The fields are in `request.state.form`.
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
            refusal = await self._pages.refusal(request, 405, "This dashboard only reads", hint)
            refusal.headers["Allow"] = ", ".join(sorted(_READS))
            await refusal(scope, receive, send)
            return
        form = access.form_of(scope[BODY], request.headers.get("content-type", ""))
        if not access.is_ours(request, form, self._secret):
            hint = "load the page again, then repeat; the dashboard may have been started anew"
            refusal = await self._pages.refusal(
                request, 403, "The form is not from this dashboard", hint
            )
            await refusal(scope, receive, send)
            return
        request.state.form = form
        await self._app(scope, receive, send)
