"""Compute one score for each passage from the matches of all retrievers, with its reasons.

The parts of the score are the keyword scores of the passage and of its whole note, the semantic
score, and a score from adjacent passages of the note. `docs/benchmarks.md` shows the effect of
each, and what was left out; the constants were chosen on development data only.

Plain loops over some hundreds of passages take less time than an import of numpy.

The likelihood is a logistic function of that score before boosts for age and use, of the logarithm
of the number of words asked for (a passage with half of ten words is a surer answer than one with
half of two), of the number of passages (the more there are, the better the best of those that have
nothing to do with the question matches), and of whether it is the first hit, which answers far more
often than one further down that matches as well. It was fitted to the first two hits of questions
about three project banks, whole and in pieces of 3 to 30 notes, as if three of five questions had
an answer; `tests/benchmarks/calibration.py` fits it and compares it with the share that answers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from heapq import nlargest
from operator import neg
from typing import TypeVar

from memory_bank.base import NamedTuple
from memory_bank.base.setting_sections import RETURNED, Memory
from memory_bank.search.retrievers.base import Access, Matches, Ranking, Reason, Scale

LEAST = 0.03
"""Hits with a lower likelihood are left out, unless they have a word of the question."""

STRONG = 0.25
"""Least likelihood of a match that is not weak; if all are weak, probably nothing answers.

Of questions about three project banks, each left out of the fit in turn, that is said of 9 of the
135 that a note answers and of 15 of the 24 others; in a fourth bank, on which nothing was chosen,
of 2 of 40 and 4 of 8.
"""


def is_weak(likelihood: float) -> bool:
    """Return whether a match is too unlikely to answer.

    `recall`, `ask` and the dashboard judge by this alone.
    """
    return likelihood < STRONG


MATCHES = 0.05
"""Least likelihood of a match that may come before one that it replaces or amends."""

BY_WORDS = (-6.97, 5.88, 1.77, -0.48, 1.5)

BY_MEANING = (-0.06, 7.88, 0.87, -2.77, 0.59)
"""Coefficients: constant, share of a perfect match, logarithm of one plus the number of words,
standard deviations to the best of so many unrelated passages, and what the first hit has more."""


def estimate_likelihood(
    relevance: float, words: int, passages: int, *, first: bool, by_words: bool
) -> float:
    """Return the likelihood, 0 to 1, for a share of a perfect match and a number of words.

    The best of n normal deviates lies about the square root of 2 ln n above their mean.
    """
    constant, share, length, chance, lead = BY_WORDS if by_words else BY_MEANING
    best = math.sqrt(2 * math.log(1 + passages))
    odds = constant + share * relevance + length * math.log(1 + words) + chance * best
    return 1 / (1 + math.exp(-odds - lead * first))


class Weights(NamedTuple):
    """Weights of the parts of the keyword score."""

    passage: float
    whole: float
    """Of the whole document."""
    about: float
    """Of words about it, beside those of its text."""


NOTES, FILES = Weights(1.0, 0.75, 0.4), Weights(0.33, 1.0, 0.8)
"""Those of notes, and of files: a file of code is about its subject all through."""

ADJACENT, EXPECTED = 0.25, 0.6
"""Weight of the score of an adjacent passage in the same note, after subtracting this share of the
passage's own score: otherwise long notes would score higher just by having adjacent passages."""

PASSAGE_B = 0.6
"""BM25's b for a passage: with that of tantivy, CACM loses a point of NDCG@10."""

_K1, _B = 1.2, 0.75
"""BM25's parameters in tantivy, which can't be set."""

_CODE_FROM, _CODE_OVER = 0.04, 0.02
"""Code ratio of the best passages at which the weight for code starts to count, and the increase
until it counts fully."""

_BEST = 10
"""Number of the best passages whose code ratio is measured."""

_NO_MATCHES = Matches()


class ExtraMatches(NamedTuple):
    """Matches of a retriever without its own part in the ranking."""

    name: str
    explanation: str
    matches: Matches
    weight: float
    of_documents: bool
    """Whether the matches are documents, not passages."""


Key = TypeVar("Key", int, str)

CodeRatio = Callable[[Sequence[int]], float]


class Evidence(NamedTuple):
    """The matches for one question, and the weights of their parts."""

    lexical: Matches = _NO_MATCHES
    notes: Matches = _NO_MATCHES
    semantic: Matches = _NO_MATCHES
    weight: float = 0.0
    """Weight of the semantic score where the best passages are prose; the keyword score has 1."""
    code_weight: float = 0.0
    """The same where the best passages are code."""
    mean_words: float = 1.0
    """Mean length of a passage, in words."""
    by_words: bool = True
    """Whether keywords were searched, which may have found nothing."""
    extra: tuple[ExtraMatches, ...] = ()
    weights: Weights = NOTES


class _ScoreParts:
    """The parts of each passage's score, each from 0 to about its weight."""

    def __init__(self, evidence: Evidence, code_ratio: CodeRatio) -> None:
        lexical, notes, semantic = evidence.lexical, evidence.notes, evidence.semantic
        self.owner = dict(zip(lexical.rows, lexical.documents, strict=True))
        self.owner.update(zip(semantic.rows, semantic.documents, strict=True))
        # a note that was found only as a whole is shown with its first passage
        owner = set(self.owner.values())
        whole = zip(notes.rows, notes.documents, strict=True)
        self.owner.update([pair for pair in whole if pair[1] not in owner])
        self.lexical = _lexical_scores(evidence)
        self.notes = _scale_to_perfect(
            notes.documents, notes.scores, notes.scale, evidence.weights.whole
        )
        normalised = _scale_to_perfect(semantic.rows, semantic.scores, semantic.scale)
        weight = _semantic_weight(evidence, self.lexical, normalised, code_ratio)
        self.semantic = {row: weight * score for row, score in normalised.items()}
        self.extra = [
            _ExtraPart(extra_matches) for extra_matches in evidence.extra if extra_matches.matches
        ]
        for extra_matches in evidence.extra:
            pairs = zip(extra_matches.matches.rows, extra_matches.matches.documents, strict=True)
            self.owner.update([pair for pair in pairs if pair[0] not in self.owner])
        self._full = _full(evidence, weight)
        self._own = _sum(self.lexical, self.semantic)

    def scores(self) -> dict[int, float]:
        """Add up the parts for each passage; drop passages with a score of 0 or less."""
        own, notes, owner = self._own.get, self.notes.get, self.owner
        owns = {row: own(row, 0.0) + notes(note, 0.0) for row, note in owner.items()}
        # few passages are adjacent to another match: go over these pairs only
        for row in [row for row in owner if row + 1 in owner]:
            if owner[row] == owner[row + 1]:
                owns[row] += self._from_adjacent(row, row + 1)
                owns[row + 1] += self._from_adjacent(row + 1, row)
        for part in self.extra:
            for row, note in owner.items():
                owns[row] += part.of(row, note)
        return {row: score / self._full for row, score in owns.items() if score > 0}

    def reasons(self, row: int) -> list[Reason]:
        """Return the parts of a passage's score."""
        note = self.owner[row]
        places = (place for place in (row - 1, row + 1) if self.owner.get(place) == note)
        beside = sum(self._from_adjacent(row, place) for place in places)
        parts = (
            ("keyword", "its words", self.lexical.get(row, 0.0)),
            ("notes", "its note's words", self.notes.get(note, 0.0)),
            ("vectors", "its meaning", self.semantic.get(row, 0.0)),
            ("neighbours", "what stands beside it", beside),
            *((part.name, part.explanation, part.of(row, note)) for part in self.extra),
        )
        return [Reason(name, text, part / self._full) for name, text, part in parts if part]

    def _from_adjacent(self, row: int, place: int) -> float:
        """Return what an adjacent passage of the same note adds to the score of a passage."""
        own = self._own.get
        return ADJACENT * (own(place, 0.0) - EXPECTED * own(row, 0.0))


def _full(evidence: Evidence, semantic: float) -> float:
    """Return the score of a perfect passage: one that has all that the question asks for."""
    # what another retriever finds is no weaker for words that no document has
    missed = not evidence.lexical and any(extra_matches.matches for extra_matches in evidence.extra)
    words = 1.0 if evidence.by_words and not missed else 0.0
    weights = evidence.weights
    return (
        words * (weights.passage + weights.whole)
        + semantic
        + sum(extra_matches.weight for extra_matches in evidence.extra)
    )


class _ExtraPart:
    """The part of the score that a retriever without its own part adds."""

    def __init__(self, extra_matches: ExtraMatches) -> None:
        self.name, self.explanation, self.weight = (
            extra_matches.name,
            extra_matches.explanation,
            extra_matches.weight,
        )
        self._of_documents = extra_matches.of_documents
        keys = (
            extra_matches.matches.documents
            if extra_matches.of_documents
            else extra_matches.matches.rows
        )
        self._shares = _scale_to_perfect(
            keys, extra_matches.matches.scores, extra_matches.matches.scale, extra_matches.weight
        )

    def of(self, row: int, document: int) -> float:
        """Return the part for one passage."""
        return self._shares.get(document if self._of_documents else row, 0.0)


def rank(evidence: Evidence, code_ratio: CodeRatio) -> Ranking:
    """Score every passage that was found, as a share of a perfect passage's score."""
    parts = _ScoreParts(evidence, code_ratio)
    scores = parts.scores()
    return Ranking(parts.owner, scores, scores, parts.reasons)


def _lexical_scores(evidence: Evidence) -> dict[int, float]:
    """Return each passage's share of a perfect BM25 score, with less length normalisation.

    The conversion is exact for a term that occurs once.
    """
    matches, mean = evidence.lexical, max(evidence.mean_words, 1.0)
    was, was_more = 1 + _K1 * (1 - _B), _K1 * _B / mean
    now, now_more = 1 + _K1 * (1 - PASSAGE_B), _K1 * PASSAGE_B / mean
    columns = zip(matches.scores, matches.words, strict=True)
    scores = [s * (was + was_more * words) / (now + now_more * words) for s, words in columns]
    return _scale_to_perfect(matches.rows, scores, matches.scale, evidence.weights.passage)


def _scale_to_perfect(
    keys: Iterable[Key], scores: Collection[float], scale: Scale, weight: float = 1.0
) -> dict[Key, float]:
    """Scale scores linearly: of an unrelated passage to 0, of a perfect one to the weight."""
    low, high = scale
    if high <= low:
        return {}
    factor = weight / (high - low)
    pairs = zip(keys, scores, strict=True)
    return {key: factor * (score - low) for key, score in pairs if score > low}


def _semantic_weight(
    evidence: Evidence,
    lexical: Mapping[int, float],
    semantic: Mapping[int, float],
    code_ratio: CodeRatio,
) -> float:
    """Interpolate between the weights for prose and for code by the code ratio of the best."""
    if not semantic or not lexical:
        return evidence.weight if semantic else 0.0
    total = _sum(lexical, semantic)
    best = nlargest(_BEST, zip(total.values(), map(neg, total), strict=True))
    code = min(max((code_ratio([-row for _, row in best]) - _CODE_FROM) / _CODE_OVER, 0.0), 1.0)
    return (1 - code) * evidence.weight + code * evidence.code_weight


def _sum(scores: Mapping[int, float], more: Mapping[int, float]) -> dict[int, float]:
    """Add two parts, row by row."""
    total = dict(scores)
    get = total.get
    for row, score in more.items():
        total[row] = get(row, 0.0) + score
    return total


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
