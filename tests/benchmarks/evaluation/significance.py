"""Whether one way to search beats another over the same questions."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from typing import NamedTuple

_EPSILON = 1e-9
"""Differences below it are rounding, not wins."""


class Paired(NamedTuple):
    """How the second of two ways does against the first, question by question."""

    difference: float
    """Mean of the second less mean of the first."""
    better: int
    worse: int
    same: int
    p: float
    """How likely so uneven a count is if neither is better: the two-sided sign test."""


def paired(first: Sequence[float], second: Sequence[float]) -> Paired:
    """Compare the values of the same questions; raise ValueError when their numbers differ."""
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
