"""The application: pages and static files, behind their guards."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from anyio import to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.types import ASGIApp

from memory_bank.errors import MemoryBankError
from memory_bank.frontends.http.connections import STOPPING
from memory_bank.frontends.http.endpoint import Guard
from memory_bank.frontends.web.errors import ErrorPages
from memory_bank.frontends.web.safety import guarded
from memory_bank.frontends.web.site import Site


def application(site: Site, guard: Guard) -> ASGIApp:
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
