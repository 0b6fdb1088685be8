"""The report of a sync."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

Progress = Callable[[str, int, int], None]
"""Called with the kind of work, the amount done, and the total."""


@dataclass(slots=True)
class SyncReport:
    """What one sync did; numbers of documents."""

    indexed: int = 0
    removed: int = 0
    unindexed: int = 0
    repaired: list[str] = field(default_factory=list)
    """What was unfinished, damaged or missing, as in `repairs`."""
    embedded: int = 0
    """Passages for which a vector was computed."""
    waiting: int = 0
    """Passages that have no vector yet."""
    problem: str = ""
    """Why passages can't be embedded now, if so."""
    leftover: list[str] = field(default_factory=list)
    """Temporary files that were found among the documents."""
    seconds: float = 0.0
    code: SyncReport | None = None
    """Of the project's code; None if it was not indexed."""

    def add(self, other: SyncReport) -> None:
        """Add what another sync did; the first problem stays."""
        self.indexed += other.indexed
        self.removed += other.removed
        self.unindexed += other.unindexed
        self.embedded += other.embedded
        self.waiting += other.waiting
        self.repaired += other.repaired
        self.problem = self.problem or other.problem

    @property
    def healed(self) -> list[str]:
        """Return `repaired` by its former name, for this version."""
        return self.repaired


def silent(what: str, done: int, total: int) -> None:
    """Show no progress."""
