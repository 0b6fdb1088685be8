"""Serve the dashboard of a bank to browsers: pages and static files, behind their guards."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

from anyio import to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.types import ASGIApp

from memory_bank.base.errors import BadInput, MemoryBankError
from memory_bank.frontends.serving.connections import STOPPING
from memory_bank.frontends.serving.endpoint import (
    Endpoint,
    RequestGuard,
    Token,
    new_token,
    serve,
    token,
)
from memory_bank.frontends.web import access
from memory_bank.frontends.web.error_pages import ErrorPages
from memory_bank.frontends.web.safety import guarded
from memory_bank.frontends.web.site import Site


def application(site: Site, guard: RequestGuard) -> ASGIApp:
    """Return the ASGI application of a dashboard."""
    pages = ErrorPages(site)

    @asynccontextmanager
    async def running(_: Starlette) -> AsyncIterator[dict[str, asyncio.Event]]:
        threading.Thread(target=site.start, name="start", daemon=True).start()
        try:
            yield {STOPPING: asyncio.Event()}
        finally:
            await to_thread.run_sync(site.background.close)

    app = Starlette(
        routes=[site.static.route(), *site.routes()],
        middleware=[Middleware(GZipMiddleware, minimum_size=1000)],
        exception_handlers={
            MemoryBankError: pages.known,
            HTTPException: pages.http,
            **dict.fromkeys((MemoryError, RuntimeError, OSError), pages.exhausted),
            Exception: pages.unknown,
        },
        lifespan=running,
    )
    app.router.redirect_slashes = False  # one address for each page
    return guarded(app, guard, pages, site)


ADDRESS = "127.0.0.1:8766"
"""The default address: only this machine reaches it."""

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
    address: str = ADDRESS,
    *,
    token_file: Path | None = None,
    no_token: bool = False,
    hosts: Sequence[str] = (),
    on_start: Callable[[Endpoint], None],
) -> None:
    """Serve a dashboard, as `serve` does, and close the bank at the end.

    Its token is that of a file, on a loopback address without one a new one, or none. Raises
    BadInput for none on an address that other machines can reach.
    """

    def needed(remote: bool) -> Token | None:  # noqa: FBT001  (as `serve` calls it)
        if not no_token:
            return token(token_file) if remote or token_file else new_token()
        if remote:
            raise BadInput(
                f"other machines can reach {address}: there a token is needed",
                "leave out --no-token, or listen on 127.0.0.1",
            )
        return None

    try:
        serve(
            lambda guard: application(site, guard),
            address,
            "/",
            token=needed,
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


def entrance(endpoint: Endpoint) -> str:
    """Return the address to open first: with the token, where one is needed."""
    url = endpoint.url
    for any_address in _ANY:
        url = url.replace(any_address, f"//{socket.gethostname()}:")
    if endpoint.token is None:
        return url
    return f"{url}?{access.TOKEN_FIELD}={quote(endpoint.token.value.decode(), safe='')}"
