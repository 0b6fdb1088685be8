"""How good an answer is: recall, NDCG, reciprocal rank; and whether one way beats another.

All take the names found, best first and each once, and the grades of the names that are to be
found: 1 and more are relevant, 0 and less are not. Shares are from 0 to 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import comb, log2

Grades = Mapping[str, float]

NAMES = ("recall@1", "recall@5", "recall@10", "ndcg@10", "mrr")
"""What `measure` returns, in this order."""
_EPSILON = 1e-9
"""Differences below it are rounding, not wins."""


def recall_at(found: Sequence[str], grades: Grades, k: int) -> float:
    """Return |relevant among the first k| / |relevant| (Manning et al. 2008, section 8.3)."""
    relevant = _relevant(grades)
    return len(relevant.intersection(found[:k])) / len(relevant) if relevant else 0.0


def hit_at(found: Sequence[str], grades: Grades, k: int) -> float:
    """Return 1 if any of the first k is relevant, else 0 (success@k of trec_eval)."""
    return float(not _relevant(grades).isdisjoint(found[:k]))


def ndcg_at(found: Sequence[str], grades: Grades, k: int) -> float:
    """Return DCG@k / the best possible DCG@k, with DCG@k = sum of grade_i / log2(i + 1), i from 1.

    Järvelin and Kekäläinen 2002 with the discount from the first rank on, gain = grade, as in
    trec_eval's ndcg_cut and BEIR.
    """
    ideal = _dcg(sorted((grade for grade in grades.values() if grade > 0), reverse=True)[:k])
    return _dcg([max(grades.get(name, 0.0), 0.0) for name in found[:k]]) / ideal if ideal else 0.0


def reciprocal_rank(found: Sequence[str], grades: Grades) -> float:
    """Return 1 / the rank of the first relevant name, 0 when there is none (Voorhees 1999)."""
    relevant = _relevant(grades)
    return next((1 / rank for rank, name in enumerate(found, 1) if name in relevant), 0.0)


def measure(found: Sequence[str], grades: Grades) -> dict[str, float]:
    """Return every measure of one answer."""
    values = (
        *(recall_at(found, grades, k) for k in (1, 5, 10)),
        ndcg_at(found, grades, 10),
        reciprocal_rank(found, grades),
    )
    return dict(zip(NAMES, values, strict=True))


def mean(answers: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the mean of each measure over answers; every answer counts the same."""
    names = answers[0] if answers else dict.fromkeys(NAMES)
    return {name: sum(one[name] for one in answers) / max(len(answers), 1) for name in names}


@dataclass(frozen=True, slots=True)
class Paired:
    """How the second of two ways does against the first, query by query."""

    difference: float
    """Mean of the second less mean of the first."""
    better: int
    worse: int
    same: int
    p: float
    """How likely so uneven a count is if neither is better: the two-sided sign test."""


def paired(first: Sequence[float], second: Sequence[float]) -> Paired:
    """Compare the values of the same queries; raise ValueError when their numbers differ."""
    gains = [b - a for a, b in zip(first, second, strict=True)]
    better = sum(gain > _EPSILON for gain in gains)
    worse = sum(gain < -_EPSILON for gain in gains)
    return Paired(
        difference=sum(gains) / max(len(gains), 1),
        better=better,
        worse=worse,
        same=len(gains) - better - worse,
        p=sign_test(better, worse),
    )


def sign_test(better: int, worse: int) -> float:
    """Return the two-sided p of the sign test, exact, ties left out (Conover 1999, section 3.4)."""
    tries = better + worse
    tail = sum(comb(tries, count) for count in range(min(better, worse) + 1))
    whole: int = 2**tries
    return min(1.0, 2 * tail / whole)


def _dcg(gains: Iterable[float]) -> float:
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, 1))


def _relevant(grades: Grades) -> set[str]:
    return {name for name, grade in grades.items() if grade > 0}
