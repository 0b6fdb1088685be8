"""Make the scores of several kinds and indices comparable, and fuse them into one order.

A result is ranked by the likelihood that it answers. The likelihoods of the engine were fitted to
notes; those of the other kinds are lower by the factors SHARES, so that a symbol that happens to
have the words does not hide the note that answers. Each further result of the same kind, and of the
same file, counts a little less. All factors were measured by `tests/benchmarks/ask.py`, on messages
of commits (which files did they change?) and on questions about notes.

Each index's own rarities and its own best score would overrate the hits of the one that knows
least of the question: what is rare there is common elsewhere.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from memory_bank.search import ranking
from memory_bank.search.retrievers.base import Scale
from memory_bank.search.retrievers.keyword import keyword_query
from memory_bank.search.retrievers.keyword.analyzer import grams, weighted_stems
from memory_bank.search.retrievers.keyword.keyword_query import PERFECT_CAP

SHARES: Mapping[str, float] = {"symbols": 0.55, "docs": 0.55, "tests": 0.4, "commits": 0.6}
"""Factors of likelihoods by kind; 1 for the others."""

_NAMED: Mapping[str, frozenset[str]] = {
    "tests": frozenset(["test", "tests", "tested"]),
    "symbols": frozenset(["function", "class", "method", "symbol", "code"]),
    "commits": frozenset(["commit", "commits", "why", "changed"]),
    "docs": frozenset(["docs", "documentation", "documented", "readme"]),
}
"""Words of a question that name a kind, whose results are then as likely as notes."""

COUPLING_WEIGHT = 0.8
"""Share of a file's likelihood that a file which always changes with it gets."""

SAME_KIND, SAME_KIND_OF = 0.97, {"commits": 0.7}
"""Factor for each better result of the same kind: commits whose messages are alike would else take
the places of the files that they changed."""

SAME_FILE = 0.7
"""Factor for each better result of the same file."""

_FURTHER, _MOST_FURTHER = 0.5, 4
"""What each further result of a file counts as evidence of it, in shares of the one before it, and
how many do: a file that has an answer mostly has several places on the subject."""


class Scored(NamedTuple):
    """A result of one kind, with what it is ranked by."""

    number: int
    """Its place among all results that are fused."""
    kind: str
    file: str
    score: float
    """The likelihood that it answers, 0 to 1."""


def share(kind: str, question: str) -> float:
    """Return the factor of the likelihoods of a kind; 1 if the question names it."""
    words = set(re.findall(r"\w+", question.lower()))
    return 1.0 if words & _NAMED.get(kind, frozenset()) else SHARES.get(kind, 1.0)


def beside_first(likelihood: float, share: float) -> float:
    """Return the likelihood of a further hit with that share of the score of the first of its kind.

    A hit nearly as good as the first one is nearly as likely: it gets what only the first one has
    more, by the square of that share.
    """
    odds = math.exp(ranking.BY_WORDS[-1] * share**2)
    return likelihood * odds / (1 - likelihood + likelihood * odds)


def either(one: float, other: float) -> float:
    """Return the likelihood that one of two independent pieces of evidence is right."""
    return 1 - (1 - one) * (1 - other)


def by_likelihood(found: Iterable[Scored]) -> list[Scored]:
    """Order results by likelihood, less for each better one of the same kind and file.

    The best result of a file stands for it: it gets the likelihood that one of them answers.
    """
    by_file = defaultdict[str, list[Scored]](list)
    for one in sorted(found, key=lambda one: (-one.score, one.number)):
        by_file[one.file].append(one)
    lifted = [
        one._replace(score=_of_file(some) if one is some[0] else one.score)
        for some in by_file.values()
        for one in some
    ]
    kinds, files = Counter[str](), Counter[str]()
    ranked = []
    for one in sorted(lifted, key=lambda one: (-one.score, one.number)):
        same = SAME_KIND_OF.get(one.kind, SAME_KIND)
        factor = same ** kinds[one.kind] * SAME_FILE ** files[one.file]
        kinds[one.kind] += 1
        files[one.file] += 1
        ranked.append(one._replace(score=one.score * factor))
    return sorted(ranked, key=lambda one: (-one.score, one.number))


def _of_file(some: Sequence[Scored]) -> float:
    """Return the likelihood that one of a file's results answers, which are given best first."""
    no = 1.0
    for place, one in enumerate(some[:_MOST_FURTHER]):
        no *= 1 - one.score * _FURTHER**place
    return 1 - no


def by_ranks(lists: Sequence[Sequence[Scored]], k: float) -> list[Scored]:
    """Order results by reciprocal rank in the list of their kind; the first of a list gets 1."""
    ranked = [
        one._replace(score=(k + 1) / (k + place))
        for found in lists
        for place, one in enumerate(sorted(found, key=lambda one: -one.score), 1)
    ]
    return sorted(ranked, key=lambda one: (-one.score, one.number))


COSINES = Scale(0.09, 0.41)
"""The scale of cosines for all indices: the usual mean, and four usual deviations above it."""


class WordCounts(NamedTuple):
    """How many passages an index has, and how many have each word."""

    size: int
    passages: Mapping[str, int]


class CommonScales(NamedTuple):
    """What the scores of one question have in common in several indices."""

    rarities: Mapping[str, float]
    """By word: a stem, or a bigram; of a word that nobody has, what a perfect passage gets."""
    scales: Mapping[str, Scale]
    """By retriever."""


def words_of(text: str) -> list[str]:
    """Return the words of a question that are counted: stems, and bigrams."""
    return list(dict.fromkeys([word.stem for word in weighted_stems(text)] + grams(text).split()))


def rarities(words: Iterable[str], counts: Sequence[WordCounts]) -> dict[str, float]:
    """Return the rarity of each word among the passages of all indices."""
    size = sum(one.size for one in counts)
    total: Counter[str] = Counter()
    for one in counts:
        total.update(one.passages)
    return {word: keyword_query.expected(total[word], size) for word in words}


def together(
    text: str, known: Mapping[str, float], best: Sequence[Mapping[str, float]]
) -> CommonScales:
    """Return the common scales of a question's text, from the best scores in each index."""
    perfect = sum(word.weight * known.get(word.stem, 0.0) for word in weighted_stems(text))
    scales = {"vectors": COSINES}
    for name in ("keyword", "notes"):
        most = max((scores.get(name, 0.0) for scores in best), default=0.0)
        scales[name] = Scale(0.0, min(perfect, PERFECT_CAP * most) if perfect else most)
    return CommonScales(known, scales)
