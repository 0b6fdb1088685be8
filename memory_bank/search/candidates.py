"""Candidates for hits: the best passage of each document, boosts, and superseded documents."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from memory_bank.activity.access import NEVER, Access
from memory_bank.manifest import documents, neighbourhood
from memory_bank.manifest.manifest import Manifest
from memory_bank.search import boosts
from memory_bank.search.hits import Ranking, Reason
from memory_bank.search.likelihood import LEAST, LEAST_SHARE, STRONG, likelihood
from memory_bank.setting_sections import Memory

_EXTRA_CANDIDATES = 16
"""Candidates beyond the limit, since superseded ones move down."""
_SUPERSEDED_FACTOR = 0.5
"""Factor for the score of a superseded note."""
_SUCCESSOR_FACTOR = 1.01
"""Factor from the score of a superseded note to that of its successor, if that was lower."""

Accesses = Callable[[Collection[str]], Mapping[str, Access]]


class Candidate:
    """A document that may become a hit, with its best passage."""

    __slots__ = (
        "access", "boosts", "document", "factor", "likelihood", "relevance", "row", "score",
        "superseded_by",
    )  # fmt: skip

    def __init__(self, document: int, row: int, score: float) -> None:
        """Take the score of the best passage."""
        self.document = document
        self.row = row
        self.score = score
        self.factor = 1.0
        """The product of all boosts."""
        self.boosts: list[Reason] = []
        self.access: Access = NEVER
        self.superseded_by = ""
        self.relevance = self.likelihood = 0.0

    @property
    def weak(self) -> bool:
        """Whether it is too unlikely for an answer."""
        return self.likelihood < STRONG

    @property
    def shown(self) -> bool:
        """Whether it is in the answer: it is likely enough, or near enough to a perfect match."""
        return self.likelihood >= LEAST or self.relevance >= LEAST_SHARE

    def boost(self, source: str, detail: str, factor: float) -> None:
        """Multiply the score by a factor, with its reason."""
        self.score *= factor
        self.factor *= factor
        self.boosts.append(Reason(source, detail, factor))


def select(
    manifest: Manifest, ranking: Ranking, settings: Memory, limit: int
) -> dict[int, Candidate]:
    """Return the documents that can be among the best after boosts, by number."""
    last = limit + (_EXTRA_CANDIDATES if neighbourhood.any_supersedes(manifest) else 0)
    owner, scores = ranking.owner, ranking.scores
    found: dict[int, Candidate] = {}
    least = 0.0
    for row in sorted(scores, key=scores.__getitem__, reverse=True):
        score = scores[row]
        if score < least:
            break
        candidate = found.get(owner[row])
        if candidate is None:
            found[owner[row]] = Candidate(owner[row], row, score)
            if len(found) == last:
                least = score / boosts.upper_bound(settings)
        elif score == candidate.score:
            # of equal scores, the first passage is shown
            candidate.row = min(row, candidate.row)
    return found


def boost(
    manifest: Manifest,
    found: Mapping[int, Candidate],
    accesses: Accesses,
    settings: Memory,
    now: float,
) -> None:
    """Boost candidates by their age and their accesses."""
    dates = manifest.cached(documents.dates) or documents.dates(manifest, found.keys())
    seen = accesses([dates[number][1] for number in found if number in dates])
    for number, candidate in found.items():
        created, key = dates.get(number, (0.0, ""))
        factors = [("recency", boosts.recency(settings, created, now))]
        if key in seen:
            candidate.access = seen[key]
            factors.append(("access", boosts.access(settings, candidate.access, now)))
        for name, factor in factors:
            if factor != 1.0:
                candidate.boost(name, "boost", factor)


def rank_superseded(manifest: Manifest, found: Mapping[int, Candidate]) -> None:
    """Rank a superseded document below its successor, whose score is raised if needed."""
    if not neighbourhood.any_supersedes(manifest):
        return
    for old, (new, path) in neighbourhood.superseded(manifest, found.keys()).items():
        candidate = found[old]
        candidate.superseded_by = path
        candidate.boost("superseded", f"by {path}", _SUPERSEDED_FACTOR)
        successor = found.get(new)
        if successor is not None and 0 < successor.score <= candidate.score:
            factor = _SUCCESSOR_FACTOR * candidate.score / successor.score
            successor.boost("supersedes", "a note that matches better", factor)


def judge(found: Mapping[int, Candidate], ranking: Ranking, words: int, *, by_words: bool) -> None:
    """Compute how likely each candidate answers a question of that many words."""
    for one in found.values():
        one.relevance = ranking.relevance.get(one.row, 0.0) * one.factor
        one.likelihood = likelihood(one.relevance, words, by_words=by_words)
