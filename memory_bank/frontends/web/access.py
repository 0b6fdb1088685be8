"""The token of a dashboard, and the cookie that stands for it.

A browser sends no token with the address that a person opens. So the address has it once, as
`/?token=…`; the answer sets a cookie, and leads to the address without it.
"""

from __future__ import annotations

import hmac

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from memory_bank.actions.access_token import Token
from memory_bank.frontends.http.endpoint import same_secret

FIELD = "token"
_YEAR = 365 * 86400


def may_enter(request: Request, token: bytes) -> bool:
    """Tell whether a request has the token: by the cookie, or as a bearer."""
    kind, _, bearer = request.headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer" and same_secret(bearer.strip(), token):
        return True
    return same_secret(request.cookies.get(_cookie_name(request), ""), _cookie(token))


def entered(request: Request, token: Token) -> Response | None:
    """Return the answer to an address with the right token; None for any other."""
    given = request.query_params.get(FIELD)
    if request.method != "GET" or given is None or not same_secret(given, token.value):
        return None
    rest = request.url.remove_query_params(FIELD)
    # an address that begins with two slashes would lead to another host
    where = "/" + rest.path.lstrip("/") + (f"?{rest.query}" if rest.query else "")
    response = RedirectResponse(where, 303)
    value = _cookie(token.value).decode()
    age = _YEAR if token.file else None  # without a file, the token ends with the server
    name = _cookie_name(request)
    response.set_cookie(name, value, max_age=age, httponly=True, samesite="strict")
    return response


def may_be_known(request: Request) -> bool:
    """Tell whether the browser keeps its cookie back since another site led to the address.

    The redirect file of `--open` is such a site. The browser sends the cookie if the page that it
    got loads itself again.
    """
    asked = request.headers
    kind = (asked.get("sec-fetch-site"), asked.get("sec-fetch-mode"), asked.get("sec-fetch-dest"))
    return request.method == "GET" and kind == ("cross-site", "navigate", "document")


def _cookie_name(request: Request) -> str:
    """Return the cookie's name: browsers send each cookie to all ports of a host."""
    return f"memory_bank_access_{request.url.port or 80}"


def _cookie(token: bytes) -> bytes:
    """Return the cookie's value, from which nobody learns the token."""
    return hmac.new(token, b"memory-bank dashboard", "sha256").hexdigest().encode()
