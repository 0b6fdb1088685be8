"""Reciprocal rank fusion, used when the setting `fusion` is `rrf`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from memory_bank.retrievers.base import Matches
from memory_bank.search.hits import Ranking, Reason


class Ranked(NamedTuple):
    """The matches of one retriever."""

    name: str
    matches: Matches


def by_ranks(lists: Sequence[Ranked], k: float = 60.0) -> Ranking:
    """Add 1 / (k + rank) over the lists (Cormack, Clarke and Buettcher 2009).

    Scores are scaled so that a passage that is first in every list gets 1.
    """
    full = sum(1 for ranked in lists if ranked.matches)
    places = [{row: place for place, row in enumerate(ranked.matches.rows, 1)} for ranked in lists]
    owner: dict[int, int] = {}
    for ranked in lists:
        owner.update(zip(ranked.matches.rows, ranked.matches.documents, strict=True))

    def reasons(row: int) -> list[Reason]:
        return [
            Reason(ranked.name, f"rank {found[row]}", (k + 1) / (k + found[row]) / full)
            for ranked, found in zip(lists, places, strict=True)
            if row in found
        ]

    scores = {
        row: sum((k + 1) / (k + found[row]) for found in places if row in found) / full
        for row in owner
    }
    return Ranking(owner, scores, scores, reasons)
