"""What forgetting did, or would do: the places that had something, and what it can't reach."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from memory_bank.bank.bank import Bank

SCHEMA_VERSION = "1.0"

TEXT, NOTE, OBSERVATION, SESSION = "text", "note", "observation", "session"

REPLACED, REMOVED, RENAMED, REBUILT = "replaced", "removed", "renamed", "rebuilt"


@dataclass(frozen=True, slots=True)
class ForgottenPlace:
    """A place that had what is forgotten."""

    place: str
    """A note's path, or the name of another part."""
    kind: str
    """`note`, `trash`, `queue`, `log`, `leftover`, `index`."""
    count: int
    action: str
    """`replaced`, `removed`, `renamed` or `rebuilt`."""


@dataclass(frozen=True, slots=True)
class OutOfReach:
    """A place that has it still, or may have it."""

    place: str
    reason: str


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What was forgotten, and what is left to others."""

    schema_version: str
    kind: str
    """`text`, `note`, `observation` or `session`."""
    done: bool
    """False if nothing was changed, as in a dry run."""
    count: int
    """How often it was found, apart from the index."""
    places: tuple[ForgottenPlace, ...]
    beyond: tuple[OutOfReach, ...]


@dataclass(slots=True)
class Removal:
    """One run: what it found so far. In a dry run nothing is changed."""

    bank: Bank
    kind: str
    dry_run: bool
    places: list[ForgottenPlace] = field(default_factory=list)
    beyond: list[OutOfReach] = field(default_factory=list)

    @property
    def state(self) -> Path:
        """The bank's private state."""
        return self.bank.layout.state(self.bank.id)

    def found(self, place: str, kind: str, count: int, action: str = REMOVED) -> None:
        """Add a place that had it."""
        if count:
            self.places.append(ForgottenPlace(place, kind, count, action))

    def left(self, place: str, reason: str) -> None:
        """Add a place that has it still, or may have it; the first reason stays."""
        if all(one.place != place for one in self.beyond):
            self.beyond.append(OutOfReach(place, reason))

    def result(self) -> Forgotten:
        """Return what was done."""
        counted = sum(one.count for one in self.places if one.kind != "index")
        return Forgotten(
            schema_version=SCHEMA_VERSION,
            kind=self.kind,
            done=not self.dry_run,
            count=counted,
            places=tuple(self.places),
            beyond=tuple(self.beyond),
        )
