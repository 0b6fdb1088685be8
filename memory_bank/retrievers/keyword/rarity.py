"""BM25's rarity of words (inverse document frequency)."""

from __future__ import annotations

from math import log

_FEW = 20
"""Number of texts at which a word that none has counts halfway between its rarity and half the
rarity of a word that one has."""


def rarity(count: int, size: int) -> float:
    """Return the rarity of a word that some of all texts have, as tantivy computes it."""
    size = max(size, count)
    return log(1 + (size - count + 0.5) / (count + 0.5))


def expected(count: int, size: int) -> float:
    """Return what a word adds to the score of a perfect text.

    A word that no text has counts as the rarest one. In a small index it counts less, since few
    texts lack many words of any question.
    """
    if count:
        return rarity(count, size)
    return (size * rarity(0, size) + _FEW * rarity(1, size) / 2) / (size + _FEW)
