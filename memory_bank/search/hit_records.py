"""The records that the search modules exchange."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple


class Reason(NamedTuple):
    """One part of a hit's score."""

    source: str
    """keyword, notes, vectors, neighbours, recency, access, supersedes, newer …"""
    detail: str
    score: float
    """The summand, or for a boost the factor."""


class Ranking(NamedTuple):
    """The scores of passages, by row."""

    owner: Mapping[int, int]
    """The document of each."""
    scores: Mapping[int, float]
    relevance: Mapping[int, float]
    """The share of a perfect match that each has; if they are ranked by it, the scores."""
    reasons: Callable[[int], list[Reason]]
    """Returns the parts of a passage's score; computed only for the passages that are shown."""


class Access(NamedTuple):
    """How often a note was returned, and when last (seconds since the epoch)."""

    times: int = 0
    last: float = 0.0
    opened: int = 0
    """How often it was opened, cited or confirmed."""
    last_opened: float = 0.0


NEVER = Access()
