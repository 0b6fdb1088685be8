"""The token of a dashboard that other machines can reach, and the cookie that stands for it.

A browser sends no token with the address that a person opens. So the address has it once, as
`/?token=…`; the answer sets a cookie, and leads to the address without it.
"""

from __future__ import annotations

import hmac

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from memory_bank.frontends.http.endpoint import same_secret

COOKIE = "memory_bank_access"
FIELD = "token"
_YEAR = 365 * 86400


def may_enter(request: Request, token: bytes) -> bool:
    """Tell whether a request has the token: by the cookie, or as a bearer."""
    kind, _, bearer = request.headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer" and same_secret(bearer.strip(), token):
        return True
    return same_secret(request.cookies.get(COOKIE, ""), _cookie(token))


def entered(request: Request, token: bytes) -> Response | None:
    """Return the answer to an address with the right token; None for any other."""
    given = request.query_params.get(FIELD)
    if request.method != "GET" or given is None or not same_secret(given, token):
        return None
    rest = request.url.remove_query_params(FIELD)
    # an address that begins with two slashes would lead to another host
    where = "/" + rest.path.lstrip("/") + (f"?{rest.query}" if rest.query else "")
    response = RedirectResponse(where, 303)
    value = _cookie(token).decode()
    response.set_cookie(COOKIE, value, max_age=_YEAR, httponly=True, samesite="strict")
    return response


def _cookie(token: bytes) -> bytes:
    """Return the cookie's value, from which nobody learns the token."""
    return hmac.new(token, b"memory-bank dashboard", "sha256").hexdigest().encode()
