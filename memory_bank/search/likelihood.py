"""The likelihood that a hit answers a question, from the share of a perfect match that it has.

A logistic function of that share and of the logarithm of the number of words asked for: a passage
with half of ten words is a surer answer than one with half of two. It was fitted to the first three
hits of the development questions about project banks; `tests/benchmarks/calibration.py` fits it and
compares likelihoods with the share of hits that answer.
"""

from __future__ import annotations

import math

LEAST, LEAST_SHARE = 0.06, 0.25
"""Hits with a lower likelihood and a smaller share of a perfect match are left out."""
STRONG = 0.2
"""Hits with a lower likelihood are set apart as weaker matches."""
UNLIKELY = 0.1
"""If no hit has at least this likelihood, nothing answers, as far as the next two allow that."""
COVERED = 0.4
"""Share of a question's words, by rarity, in one document that may answer, however unlikely."""
FEWEST = 16
"""Documents from which on that is said: with fewer, a likelihood says little."""
BY_WORDS = (-5.14, 4.29, 0.96)
BY_MEANING = (-3.98, 4.57, -0.49)
"""Coefficients: constant, share of a perfect match, logarithm of one plus the number of words."""


def likelihood(relevance: float, words: int, *, by_words: bool) -> float:
    """Return the likelihood, 0 to 1, for a share of a perfect match and a number of words."""
    constant, share, length = BY_WORDS if by_words else BY_MEANING
    odds = constant + share * relevance + length * math.log(1 + words)
    return 1 / (1 + math.exp(-odds))
