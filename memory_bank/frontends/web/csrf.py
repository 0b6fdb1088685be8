"""Tokens of forms: only a page of this server can make a browser write (CSRF).

A token is signed with a secret of the process, and bound to a cookie that scripts can't read and
that browsers send to this site only. Each token has its own salt, so that no two pages have the
same one and compression shows nothing of it.
"""

from __future__ import annotations

import hmac
import secrets
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import Response

COOKIE = "memory_bank_browser"
FIELD = "csrf_token"
HEADER = "x-csrf-token"
_FORM = "application/x-www-form-urlencoded"
_SALT = 8


def new_browser() -> str:
    """Return a random value for the cookie of a browser."""
    return secrets.token_urlsafe(24)


def remember(response: Response, browser: str) -> None:
    """Set the cookie of a browser."""
    response.set_cookie(COOKIE, browser, httponly=True, samesite="strict")


def token(secret: bytes, browser: str) -> str:
    """Return a new token for the forms of a page."""
    salt = secrets.token_hex(_SALT)
    return f"{salt}.{_signature(secret, browser, salt)}"


def form_of(body: bytes, kind: str) -> dict[str, str]:
    """Return the fields of a form, of several of one name the last; empty for any other body."""
    if kind.partition(";")[0].strip().lower() != _FORM:
        return {}
    return dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))


def is_ours(request: Request, form: dict[str, str], secret: bytes) -> bool:
    """Tell whether a request comes from a page of this server."""
    browser = request.cookies.get(COOKIE, "")
    given = request.headers.get(HEADER) or form.get(FIELD, "")
    salt, _, signature = given.partition(".")
    expected = _signature(secret, browser, salt)
    same = hmac.compare_digest(signature.encode(), expected.encode())
    return bool(browser) and same and _same_origin(request)


def _same_origin(request: Request) -> bool:
    """Tell what the browser says of the page that sent a request; old browsers say nothing."""
    return request.headers.get("sec-fetch-site", "same-origin") in {"same-origin", "none"}


def _signature(secret: bytes, browser: str, salt: str) -> str:
    return hmac.new(secret, f"{salt}.{browser}".encode(), "sha256").hexdigest()
