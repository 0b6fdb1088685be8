"""What the parts of the search hand on to one another."""

from collections.abc import Callable, Mapping
from typing import NamedTuple


class Reason(NamedTuple):
    """One thing that made a hit what it is."""

    source: str
    """keyword, notes, vectors, neighbours, container, titles, recency, access, superseded …"""
    detail: str
    score: float
    """What it added, or for a boost what it multiplied with."""


class Ranking(NamedTuple):
    """The passages that were found, by row."""

    owner: Mapping[int, int]
    """The document of each."""
    scores: Mapping[int, float]
    reasons: Callable[[int], list[Reason]]
    """Says what a passage's score is made of: asked for the few that are shown."""
