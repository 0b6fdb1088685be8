"""Tell whoever made a request how far it is, and stop where it is not wanted any more."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is; what it raises,
as `Cancelled`, ends the work."""

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


class Cancelled(Exception):
    """Nobody waits for the work any more; its next step is not done."""


@contextmanager
def reporting_to(listener: Listener) -> Iterator[None]:
    """Tell `listener` of all that is done inside, by threads with a copy of the context too."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def tell(what: str, done: int, total: int) -> None:
    """Say how far work is, as actions report it; raise what the listener raises."""
    listener = _listener.get()
    if listener is not None:
        listener(what, done, total)
