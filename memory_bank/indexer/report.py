"""What one run of the indexer did, and what it healed on its way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

WRITING = "writing"
"""Healed: a change of several files that was cut short was finished, or undone."""
INDEXING = "indexing"
"""Healed: a batch of notes, or the filling of a retriever, that was cut short was finished."""
MANIFEST = "manifest"
"""Healed: the manifest was damaged or missing, and with it all was made anew."""

Healed = Callable[[str], None]
"""Called with what was healed: one of the above, or the name of a retriever that was made anew."""
Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is."""

_FINISHED = {
    WRITING: "finished a change of several files that was cut short",
    INDEXING: "finished indexing that was cut short",
}


@dataclass(slots=True)
class SyncReport:
    """What one sync did."""

    indexed: int = 0
    removed: int = 0
    unindexed: int = 0
    healed: list[str] = field(default_factory=list)
    """What a killed process had left half done, and what was damaged or missing: see above."""
    waiting: int = 0
    """Passages that have no vector yet."""
    problem: str = ""
    """Why meaning can't be indexed now, if so."""
    leftover: list[str] = field(default_factory=list)
    """Temporary files that were met among the notes."""
    seconds: float = 0.0


def told(healed: Sequence[str]) -> str:
    """Return what was healed in words; empty when nothing was."""
    said = [words for name, words in _FINISHED.items() if name in healed]
    anew = [name for name in healed if name not in _FINISHED]
    return "; ".join([*said, *([f"made anew: {', '.join(anew)}"] if anew else ())])


def silent(what: str, done: int, total: int) -> None:
    """Show no progress."""


def untold(what: str) -> None:
    """Tell nobody that something was healed."""
