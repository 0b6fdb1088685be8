"""Who may use a dashboard: its token and cookie, and the tokens of its forms (CSRF).

A browser sends no token with the address that a person opens. So the address has it once, as
`/?token=…`; the answer sets a cookie, and leads to the address without it.

A token is signed with a secret of the process, and bound to a cookie that scripts can't read and
that browsers send to this site only. Each token has its own salt, so that no two pages have the
same one and compression shows nothing of it.
"""

from __future__ import annotations

import hmac
import secrets
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from memory_bank.frontends.serving.endpoint import Token, same_secret

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
