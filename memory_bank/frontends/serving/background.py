"""Progress reports of requests, and their cancellation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[str, int, int], None]
"""Called with the task's name, the amount done and the total; an exception ends the work."""

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


class Cancelled(Exception):
    """The request was cancelled; the work stops before its next step."""


@contextmanager
def reporting_to(listener: Listener) -> Iterator[None]:
    """Report progress inside the block to `listener`, also from threads with a copied context."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def tell(what: str, done: int, total: int) -> None:
    """Report progress to the current listener; raise what it raises."""
    listener = _listener.get()
    if listener is not None:
        listener(what, done, total)
