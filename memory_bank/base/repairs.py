"""Repairs that an answer reports, by name."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

WRITING = "writing"
"""An interrupted change of several files was finished or undone."""

INDEXING = "indexing"
"""An interrupted batch of documents, or refill of a retriever, was finished."""

MANIFEST = "manifest"
"""The manifest was damaged or missing, so that the whole index was rebuilt."""

OUTDATED = "version"
"""The index was made by another version of this program, so that all of it was rebuilt."""

Repaired = Callable[[str], None]
"""Called with what was repaired: one of the above, a retriever that was refilled, or a
database that was begun anew."""

_FINISHED = {
    WRITING: "finished a change of several files that was cut short",
    INDEXING: "finished indexing that was cut short",
    OUTDATED: "rebuilt the index, which another version made",
}


def describe_repairs(repaired: Sequence[str]) -> str:
    """Return a text that names the repairs; empty if there are none."""
    finished = [words for name, words in _FINISHED.items() if name in repaired]
    rebuilt = [name for name in repaired if name not in _FINISHED]
    return "; ".join([*finished, *([f"rebuilt: {', '.join(rebuilt)}"] if rebuilt else ())])


def ignore_repair(text: str) -> None:
    """Report a repair to nobody."""


class Reports:
    """Messages that the next answer reports, each once; threads and banks may share them."""

    def __init__(self) -> None:
        """Start without messages."""
        self._lock = threading.Lock()
        self._messages: dict[str, None] = {}
        self._said: set[str] = set()

    def add(self, *messages: str) -> None:
        """Add messages to report."""
        with self._lock:
            self._messages.update(dict.fromkeys(messages))

    def add_once(self, *messages: str) -> None:
        """Add messages to report, unless they were added so before."""
        self.add(*(message for message in messages if message not in self._said))
        self._said.update(messages)

    def take(self) -> list[str]:
        """Return and remove all messages, in the order in which they were added."""
        with self._lock:
            messages = list(self._messages)
            self._messages.clear()
        return messages
