"""Tell the client of a running call how far it is, and stop where the client has cancelled it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from anyio import from_thread
from mcp.server.mcpserver import Context

_running: ContextVar[Context[Any, Any] | None] = ContextVar("running", default=None)


@contextmanager
def reporting_to(context: Context[Any, Any]) -> Iterator[None]:
    """Tell the client of this call of all that is done inside; a thread started there inherits."""
    token = _running.set(context)
    try:
        yield
    finally:
        _running.reset(token)


def tell(what: str, done: int, total: int) -> None:
    """Say how far work is, as actions report it; raise if the client does not want it any more."""
    context = _running.get()
    if context is None:
        return
    from_thread.check_cancelled()
    from_thread.run(context.report_progress, done, total, what)
