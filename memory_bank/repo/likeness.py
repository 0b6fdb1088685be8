"""Compare the texts of files by their words: the cosine of vectors of TF-IDF.

A file's words are those of its path and its most frequent ones; the parts of an identifier are
words. A word that a file has n times weighs (1 + ln n) * ln(1 + N / m) if m of N files have it.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping

MOST_WORDS = 100
"""Number of words of a file that are compared: more measured worse."""
MOST_CHARACTERS = 100_000
"""Number of characters of a file that are read."""
_PATH_WEIGHT = 5
"""Number of times that a word of the path counts."""
_LEAST = 0.01
"""Likeness that is left out."""

_WORD = re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z]?(?:(?![A-Z])[^\W\d_]){2,}")

Words = Mapping[str, int]
"""Words with their numbers."""


def words_of(path: str, text: str) -> Words:
    """Return the words of a file that are compared."""
    found = Counter(word.lower() for word in _WORD.findall(text[:MOST_CHARACTERS]))
    for word in _WORD.findall(path):
        found[word.lower()] += _PATH_WEIGHT
    return dict(found.most_common(MOST_WORDS))


class Likeness:
    """The likeness of files by their words."""

    def __init__(self, files: Mapping[str, Words]) -> None:
        """Compare files by what `words_of` returned of them."""
        having = Counter(word for words in files.values() for word in words)
        rarity = {word: math.log(1 + len(files) / count) for word, count in having.items()}
        self._vectors: dict[str, dict[str, float]] = {}
        self._having: dict[str, list[tuple[str, float]]] = {word: [] for word in having}
        for path, words in files.items():
            vector = {word: (1 + math.log(n)) * rarity[word] for word, n in words.items()}
            length = math.hypot(*vector.values())
            self._vectors[path] = {word: value / length for word, value in vector.items()}
            for word, value in self._vectors[path].items():
                self._having[word].append((path, value))

    def __call__(self, path: str) -> Mapping[str, float]:
        """Return the likeness of the other files to a file, 0 to 1; nothing for an unknown one."""
        found: dict[str, float] = {}
        for word, value in self._vectors.get(path, {}).items():
            for other, its in self._having[word]:
                found[other] = found.get(other, 0.0) + value * its
        found.pop(path, None)
        return {other: min(1.0, value) for other, value in found.items() if value >= _LEAST}
