"""What the engine hands on: notes with their best section and the reasons for it."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Reason:
    """One thing that made a hit what it is."""

    source: str
    """keyword, vectors, graph, recency, access, superseded …"""
    detail: str
    score: float
    """What it added, or for a boost what it multiplied with."""


@dataclass(slots=True)
class Candidate:
    """A passage on its way through the ranking."""

    row: int
    note: int
    score: float = 0.0
    reasons: list[Reason] = field(default_factory=list)
