"""Keep what was computed of each file's latest text, and of no text before it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

Text = TypeVar("Text")
Value = TypeVar("Value")


class Latest(Generic[Text, Value]):
    """Values by file. A text that is typed in replaces the one before, however long it is."""

    def __init__(self, most: int) -> None:
        """Keep the values of at most so many files, those used last."""
        self._most = most
        self._lock = threading.Lock()
        self._kept: dict[str, tuple[Text, Value]] = {}

    def get(self, file: str, text: Text, compute: Callable[[], Value]) -> Value:
        """Return the value of a file's text; it is computed if the text is not the latest one."""
        with self._lock:
            known = self._kept.pop(file, None)
            if known is not None and known[0] == text:
                self._kept[file] = known
                return known[1]
        value = compute()
        with self._lock:
            self._kept.pop(file, None)
            self._kept[file] = text, value
            while len(self._kept) > self._most:
                del self._kept[next(iter(self._kept))]
        return value
