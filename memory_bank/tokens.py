"""Estimate how many tokens a text costs an agent."""

from __future__ import annotations

import re

_WORDS = re.compile(r"[^\W\d_]+|\d+|[^\w\s]|_")
_LETTERS = 5
"""Letters of a word that make one token."""
_DIGITS = 3


def estimate(text: str) -> int:
    """Return the estimated number of tokens of a text.

    Each word counts one token for every five letters, each number one for every three digits, each
    other visible character one.
    """
    total = 0
    for word in _WORDS.findall(text):
        if word.isdigit():
            total += -(-len(word) // _DIGITS)
        else:
            total += -(-len(word) // _LETTERS)
    return total
