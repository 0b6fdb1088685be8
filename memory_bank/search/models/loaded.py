"""Models in memory: each loaded once for all banks of a process, and let go when nobody asks."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from functools import cache
from typing import TypeVar

Loader = TypeVar("Loader", bound=Callable[..., object])

_loaders: list[Callable[[], None]] = []
"""Each forgets the models of one loader."""

_lock = threading.RLock()

_last_used = 0.0


def loaded_once(load: Loader) -> Loader:
    """Keep the models that `load` returns, by its arguments, until `release_idle` lets them go.

    Whoever uses a model asks for it each time, and keeps no reference to it.
    """
    cached = cache(load)
    _loaders.append(cached.cache_clear)

    def ask(*place: object) -> object:
        global _last_used  # noqa: PLW0603  (of the process, as the models are)
        with _lock:
            _last_used = time.monotonic()
            return cached(*place)

    return ask  # type: ignore[return-value]


def release_idle(seconds: float) -> None:
    """Let all models go if the last was asked for that many seconds ago."""
    global _last_used  # noqa: PLW0603  (as above)
    with _lock:
        if not _last_used or time.monotonic() - _last_used < seconds:
            return
        _last_used = 0.0
        for forget in _loaders:
            forget()
    return_freed_memory()


def return_freed_memory() -> None:
    """Give the pages of freed objects back to the system, which glibc does only when it is told."""
    if sys.platform == "linux":
        import ctypes  # start-up: only servers need it

        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # other libraries of C have none
        if trim is not None:
            trim(0)
