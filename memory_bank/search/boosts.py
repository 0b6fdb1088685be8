"""Factors for a note's age and accesses, and the fusion `rrf`."""

from __future__ import annotations

import math
from collections.abc import Mapping

from memory_bank.base.setting_sections import RETURNED, Memory
from memory_bank.search.retrievers.base import Access, Matches, Ranking, Reason

_DAY = 86400.0

_ACCESS_DAYS = 30
"""Days until the last access stops counting."""

_RECENT_ACCESS = 0.1
"""Weight of how recently a note was accessed."""

_MANY_ACCESSES = 0.05
"""Weight of how often a note was accessed."""

_FULL_COUNT = 100
"""Number of accesses at which the count's boost reaches its weight."""


def access_boost(settings: Memory, accessed: Access, now: float) -> float:
    """Return 1 + w1·max(0, 1 − age/30 d) + w2·ln(n + 1)/ln 100, with the age of the last access.

    By default, accesses are those that opened a note: to be listed says nothing of its worth.
    """
    times, last = accessed.opened, accessed.last_opened
    if settings.boost_by == RETURNED:
        times, last = accessed.times, accessed.last
    age = (now - last) / (_ACCESS_DAYS * _DAY)
    recent = max(0.0, 1.0 - max(0.0, age)) if times else 0.0
    often = math.log(times + 1) / math.log(_FULL_COUNT)
    return 1.0 + _RECENT_ACCESS * recent + _MANY_ACCESSES * often


def recency_boost(settings: Memory, created: float, now: float) -> float:
    """Return the boost of a note created within `recency_boost_days`, else 1."""
    young = 0 <= now - created < settings.recency_boost_days * _DAY
    return settings.recency_boost_factor if young else 1.0


def upper_bound(settings: Memory) -> float:
    """Return an upper bound of a note's combined factors, for up to a hundred million accesses."""
    accessed = 1.0 + _RECENT_ACCESS + 4.0 * _MANY_ACCESSES  # ln(10**8) / ln(100) = 4
    return accessed * settings.recency_boost_factor


RANK_CONSTANT = 60
"""The constant k of reciprocal rank fusion."""


def fuse_ranks(lists: Mapping[str, Matches]) -> Ranking:
    """Add 1 / (k + rank) over the lists of some retrievers (Cormack, Clarke and Buettcher 2009).

    Scores are scaled so that a passage that is first in every list gets 1.
    """
    k = RANK_CONSTANT
    full = sum(1 for matches in lists.values() if matches)
    places = {
        name: {row: place for place, row in enumerate(matches.rows, 1)}
        for name, matches in lists.items()
    }
    owner: dict[int, int] = {}
    for matches in lists.values():
        owner.update(zip(matches.rows, matches.documents, strict=True))

    def reasons(row: int) -> list[Reason]:
        return [
            Reason(name, f"rank {place[row]}", (k + 1) / (k + place[row]) / full)
            for name, place in places.items()
            if row in place
        ]

    scores = {
        row: sum((k + 1) / (k + place[row]) for place in places.values() if row in place) / full
        for row in owner
    }
    return Ranking(owner, scores, scores, reasons)
