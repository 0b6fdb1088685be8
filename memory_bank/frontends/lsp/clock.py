"""When a hover counts as an access, and the names of commands; loaded at the start."""

from __future__ import annotations

import time
from collections.abc import Callable

SHOW_REFERENCES = "memoryBank.showReferences"
"""A command of the editor: it shows places."""
ADD_NOTE = "memoryBank.addNote"
"""A command of the server: it makes a note on a symbol."""


class Clock:
    """Tells for each symbol whether a hover counts as an access: once in a while."""

    def __init__(self, seconds: float = 60.0, now: Callable[[], float] = time.monotonic) -> None:
        """Let at most one access of a symbol count in so many seconds; kept in memory only."""
        self._seconds = seconds
        self._now = now
        self._counted: dict[str, float] = {}

    def due(self, symbol: str) -> bool:
        """Tell whether an access counts now; if so, the next ones wait."""
        now = self._now()
        if now - self._counted.get(symbol, float("-inf")) < self._seconds:
            return False
        kept = {one: then for one, then in self._counted.items() if now - then < self._seconds}
        self._counted = {**kept, symbol: now}
        return True
