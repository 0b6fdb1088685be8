"""What one run of the indexer did."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is."""


@dataclass(slots=True)
class SyncReport:
    """What one sync did."""

    indexed: int = 0
    removed: int = 0
    unindexed: int = 0
    repaired: list[str] = field(default_factory=list)
    """What a killed process left half done, or was damaged or missing: names of `repairs`."""
    waiting: int = 0
    """Passages that have no vector yet."""
    problem: str = ""
    """Why meaning can't be indexed now, if so."""
    leftover: list[str] = field(default_factory=list)
    """Temporary files that were met among the documents."""
    seconds: float = 0.0

    @property
    def healed(self) -> list[str]:
        """Return `repaired` by its former name, for this version."""
        return self.repaired


def silent(what: str, done: int, total: int) -> None:
    """Show no progress."""
