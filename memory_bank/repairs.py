"""Names of what had to be finished or made again before there was an answer."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

WRITING = "writing"
"""A change of several files that was cut short was finished, or undone."""
INDEXING = "indexing"
"""A batch of documents, or the filling of a retriever, that was cut short was finished."""
MANIFEST = "manifest"
"""The manifest was damaged or missing, and with it all was made again."""
ACCESSES = "accesses"
"""The counts of accesses were damaged, and begin again."""

EDITS = "edits"
"""The log of which agents changed what was damaged, and begins again."""
UPDATES = "updates"
"""The log of when notes were updated was damaged, and begins again."""

Repaired = Callable[[str], None]
"""Called with what was repaired: one of the above, or the name of a retriever that was refilled."""

_FINISHED = {
    WRITING: "finished a change of several files that was cut short",
    INDEXING: "finished indexing that was cut short",
}


def described(repaired: Sequence[str]) -> str:
    """Return what was repaired in words; empty when nothing was."""
    said = [words for name, words in _FINISHED.items() if name in repaired]
    again = [name for name in repaired if name not in _FINISHED]
    return "; ".join([*said, *([f"rebuilt: {', '.join(again)}"] if again else ())])


def unreported(what: str) -> None:
    """Report to nobody that something was repaired."""


class Reports:
    """What the next answer must say, each once; threads, and banks, may share it."""

    def __init__(self) -> None:
        """Have nothing to say."""
        self._lock = threading.Lock()
        self._said: dict[str, None] = {}

    def add(self, *said: str) -> None:
        """Keep what must be said until it is taken."""
        with self._lock:
            self._said.update(dict.fromkeys(said))

    def take(self) -> list[str]:
        """Return what nobody has taken yet, in the order in which it happened."""
        with self._lock:
            taken = list(self._said)
            self._said.clear()
        return taken
