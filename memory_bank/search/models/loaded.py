"""Models in memory: each loaded once for all banks of a process, and let go when nobody asks."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import cache
from typing import TypeVar

Loader = TypeVar("Loader", bound=Callable[..., object])

_forget_models: list[Callable[[], None]] = []

_last_used = 0.0


def loaded_once(load: Loader) -> Loader:
    """Keep the models that `load` returns, by its arguments, until `release_idle` lets them go.

    Whoever uses a model asks for it each time, and keeps no reference to it. No lock is held: two
    threads that ask first at the same moment load it twice, and one of the two is kept.
    """
    cached = cache(load)
    _forget_models.append(cached.cache_clear)

    def ask(*place: object) -> object:
        global _last_used  # noqa: PLW0603  (of the process, as the models are)
        _last_used = time.monotonic()
        return cached(*place)

    return ask  # type: ignore[return-value]


def release_idle(seconds: float) -> None:
    """Let all models go if the last was asked for that many seconds ago."""
    global _last_used  # noqa: PLW0603  (as above)
    if _last_used and time.monotonic() - _last_used >= seconds:
        _last_used = 0.0
        for forget in _forget_models:
            forget()
        _return_freed_memory()


def _return_freed_memory() -> None:
    """Give the pages of freed objects back to the system, which glibc does only when it is told."""
    if sys.platform == "linux":
        import ctypes  # start-up: few processes are idle that long

        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # other libraries of C have none
        if trim is not None:
            trim(0)
