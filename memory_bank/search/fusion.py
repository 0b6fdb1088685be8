"""Reciprocal rank fusion: the classic way to make one list of several, kept as a setting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memory_bank.retrievers.base import Match
from memory_bank.search.hits import Candidate, Reason


@dataclass(frozen=True, slots=True)
class Ranked:
    """One retriever's answer."""

    name: str
    matches: Sequence[Match]


def by_ranks(lists: Sequence[Ranked], k: float = 60.0) -> dict[int, Candidate]:
    """Add 1 / (k + rank) over the lists (Cormack, Clarke and Buettcher 2009).

    Scaled so that a passage that is first in every list gets 1.
    """
    full = sum(1 for ranked in lists if ranked.matches)
    found: dict[int, Candidate] = {}
    for ranked in lists:
        for place, match in enumerate(ranked.matches, 1):
            candidate = found.setdefault(match.row, Candidate(match.row, match.note))
            part = (k + 1) / (k + place) / full
            candidate.score += part
            candidate.reasons.append(Reason(ranked.name, f"rank {place}", part))
    return found
