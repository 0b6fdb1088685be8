"""What every page of the dashboard has: the bank, the templates, the menu, fields and hints."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cached_property
from http import HTTPStatus
from typing import Any, Concatenate, ParamSpec, TypeVar
from urllib.parse import parse_qsl

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from memory_bank.bank.bank import Bank
from memory_bank.base import plugins
from memory_bank.base.errors import MemoryBankError
from memory_bank.base.rendering import count
from memory_bank.code.index.codebase import Codebase
from memory_bank.frontends.serving.endpoint import Token, same_secret
from memory_bank.frontends.serving.path_redaction import PathRedaction
from memory_bank.frontends.serving.serving_background import Background
from memory_bank.frontends.serving.shared_bank import SharedBank
from memory_bank.frontends.web import templating
from memory_bank.frontends.web.templating import StaticFiles
from memory_bank.git import repository
from memory_bank.memory import overview
from memory_bank.search.manifest import entries
from memory_bank.sessions import state

KIND = "frontends.web.pages"

Value = TypeVar("Value")

Arguments = ParamSpec("Arguments")


class Site:
    """The dashboard of one bank."""

    def __init__(self, shared: SharedBank, *, write: bool = False) -> None:
        """Make the dashboard; nothing of the bank is opened yet. With `write` it has forms."""
        self.shared = shared
        self.write = write
        self.background = Background(shared)
        """Watches the files, so that pages find an index that is up to date."""
        self.static = StaticFiles()
        self.hide: Callable[[str], str] = PathRedaction(shared)
        """Filters our own messages: paths of this machine are redacted."""
        self.secret = secrets.token_bytes(32)
        """Signs the tokens of forms while this process runs."""
        self._pages = [plugins.load(KIND, name) for name in plugins.list_plugins(KIND)]
        self._templates = templating.build_environment(self.static.url)

    def start(self) -> None:
        """Open the bank and load what the start page needs, then start the work in the background.

        If both made the index at the same time, each would find one of unknown origin.
        """
        try:
            with suppress(MemoryBankError):  # without a bank: requests try again
                overview.read_home(self.shared.bank())
        finally:
            self.background.start()

    def routes(self) -> Iterator[Route]:
        """Yield the routes of all pages."""
        for page in self._pages:
            yield from page.routes(self)
            if self.write and hasattr(page, "write_routes"):
                yield from page.write_routes(self)

    async def ask(
        self,
        action: Callable[Concatenate[Bank, Arguments], Value],
        *args: Arguments.args,
        **settings: Arguments.kwargs,
    ) -> Value:
        """Run an action on the bank in a thread; raise NoBank and what the action raises."""
        return await to_thread.run_sync(lambda: action(self.shared.bank(), *args, **settings))

    async def ask_code(
        self,
        action: Callable[Concatenate[Codebase, Arguments], Value],
        *args: Arguments.args,
        **settings: Arguments.kwargs,
    ) -> Value:
        """Run an action on the code in a thread; raise NoRepository and what the action raises."""
        return await to_thread.run_sync(lambda: action(self.shared.codebase(), *args, **settings))

    async def page(
        self,
        request: Request,
        template: str,
        values: dict[str, Any],
        *,
        title: str = "",
        status: int = 200,
    ) -> Response:
        """Return a page: a template with values, in the layout.

        A template that extends `layout` is a whole page; where htmx asks, it is only the content.
        """
        browser = request.cookies.get(BROWSER_COOKIE) or new_browser()
        context = {
            "title": title,
            "layout": "part.html" if _is_part(request) else "layout.html",
            "menu": self._list_menu(request.url.path),
            "write": self.write,
            "csrf": make_token(self.secret, browser) if self.write else "",
            "foot": await to_thread.run_sync(self._list_foot) if not _is_part(request) else (),
            **values,
        }
        text = await to_thread.run_sync(self._render, template, context)
        response = HTMLResponse(text, status, headers={"Vary": "HX-Request"})
        if self.write and BROWSER_COOKIE not in request.cookies:
            remember(response, browser)
        return response

    async def locked_page(self) -> Response:
        """Return the page for those who have no token, with nothing of the bank in it."""
        render = self._templates.get_template("locked.html").render
        return HTMLResponse(await to_thread.run_sync(render), HTTPStatus.FORBIDDEN)

    def _render(self, template: str, values: dict[str, Any]) -> str:
        return self._templates.get_template(template).render(project=self._project, **values)

    def _list_foot(self) -> tuple[str, ...]:
        """Return what the foot of a page says of the bank; nothing without one."""
        try:
            bank = self.shared.bank()
            notes = bank.read(lambda view: entries.count(view.manifest, entries.NOTES))
            tree = repository.find_worktree(bank.layout.project)
            texts = [f"{count(notes, 'note')} in {bank.layout.root.name}"]
            if tree is not None:
                head, commit = repository.read_branch_and_commit(tree)
                branch = head.removeprefix("ref: refs/heads/")
                at = f"{branch} at {commit[:7]}" if branch != commit else f"at {commit[:7]}"
                texts += [at] if commit else []
        except MemoryBankError:
            return ()
        return tuple(texts)

    @property
    def _project(self) -> str:
        """The project's name; empty without a bank."""
        with suppress(MemoryBankError):
            return self._cached_project
        return ""

    @cached_property
    def _cached_project(self) -> str:
        return state.bank_project(self.shared.bank())

    def _list_menu(self, path: str) -> list[tuple[str, str, bool]]:
        modules = sorted(
            (module for module in self._pages if module.PLACE is not None), key=_read_place
        )
        return [(module.TITLE, module.PATH, _is_within(path, module.PATH)) for module in modules]


def _is_part(request: Request) -> bool:
    """Return whether htmx asks for the content alone; after going back, it needs the whole page."""
    headers = request.headers
    return "hx-request" in headers and "hx-history-restore-request" not in headers


def _read_place(page: Any) -> int:  # noqa: ANN401  (a module)
    place: int = page.PLACE
    return place


def _is_within(path: str, home: str) -> bool:
    return path == home or (home != "/" and path.startswith(f"{home}/"))


_DIGITS = 9
"""More digits are not read: Python refuses to read thousands of them."""


def read_number(text: str, default: int, most: int = 10**_DIGITS) -> int:
    """Return the whole number that a field has, at most `most`; the default for anything else."""
    if not text.isascii() or not text.isdigit():
        return default
    return min(int(text), most) if len(text) <= _DIGITS else most


TOKEN_FIELD = "token"  # noqa: S105  (the name of a field)

_YEAR = 365 * 86400


def may_enter(request: Request, token: bytes) -> bool:
    """Return whether a request has the token: by the cookie, or as a bearer."""
    kind, _, bearer = request.headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer" and same_secret(bearer.strip(), token):
        return True
    return same_secret(request.cookies.get(_cookie_name(request), ""), _make_cookie(token))


def enter_page(request: Request, token: Token) -> Response | None:
    """Return the answer to an address with the right token; None for any other."""
    token_given = request.query_params.get(TOKEN_FIELD)
    if request.method != "GET" or token_given is None or not same_secret(token_given, token.value):
        return None
    clean = request.url.remove_query_params(TOKEN_FIELD)
    # an address that begins with two slashes would lead to another host
    address = "/" + clean.path.lstrip("/") + (f"?{clean.query}" if clean.query else "")
    response = RedirectResponse(address, 303)
    value = _make_cookie(token.value).decode()
    age = _YEAR if token.file else None  # without a file, the token ends with the server
    name = _cookie_name(request)
    response.set_cookie(name, value, max_age=age, httponly=True, samesite="strict")
    return response


def may_have_cookie(request: Request) -> bool:
    """Return whether the browser keeps its cookie back since another site led to the address.

    The redirect file of `--open` is such a site. The browser sends the cookie if the page that it
    got loads itself again.
    """
    headers = request.headers
    kind = (
        headers.get("sec-fetch-site"),
        headers.get("sec-fetch-mode"),
        headers.get("sec-fetch-dest"),
    )
    return request.method == "GET" and kind == ("cross-site", "navigate", "document")


def _cookie_name(request: Request) -> str:
    """Return the cookie's name: browsers send each cookie to all ports of a host."""
    return f"memory_bank_access_{request.url.port or 80}"


def _make_cookie(token: bytes) -> bytes:
    """Return the cookie's value, from which nobody learns the token."""
    return hmac.new(token, b"memory-bank dashboard", "sha256").hexdigest().encode()


BROWSER_COOKIE = "memory_bank_browser"

CSRF_FIELD = "csrf_token"

HEADER = "x-csrf-token"

_FORM = "application/x-www-form-urlencoded"

_SALT = 8
"""Random bytes of a form's salt."""


def new_browser() -> str:
    """Return a random value for the cookie of a browser."""
    return secrets.token_urlsafe(24)


def remember(response: Response, browser: str) -> None:
    """Set the cookie of a browser."""
    response.set_cookie(BROWSER_COOKIE, browser, httponly=True, samesite="strict")


def make_token(secret: bytes, browser: str) -> str:
    """Return a new token for the forms of a page."""
    salt = secrets.token_hex(_SALT)
    return f"{salt}.{_sign(secret, browser, salt)}"


def read_form(body: bytes, kind: str) -> dict[str, str]:
    """Return the fields of a form, the last of each name; no fields for any other body."""
    if kind.partition(";")[0].strip().lower() != _FORM:
        return {}
    return dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))


def is_ours(request: Request, form: dict[str, str], secret: bytes) -> bool:
    """Return whether a request comes from a page of this server."""
    browser = request.cookies.get(BROWSER_COOKIE, "")
    form_token = request.headers.get(HEADER) or form.get(CSRF_FIELD, "")
    salt, _, signature = form_token.partition(".")
    expected = _sign(secret, browser, salt)
    is_signed = hmac.compare_digest(signature.encode(), expected.encode())
    return bool(browser) and is_signed and _same_origin(request)


def _same_origin(request: Request) -> bool:
    """Return whether the browser says that a page of this server asks; old browsers say nothing."""
    return request.headers.get("sec-fetch-site", "same-origin") in {"same-origin", "none"}


def _sign(secret: bytes, browser: str, salt: str) -> str:
    return hmac.new(secret, f"{salt}.{browser}".encode(), "sha256").hexdigest()
