"""Feature hashing of words and their trigrams, without a model; for tests."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from blake3 import blake3

from memory_bank.base.settings import Settings
from memory_bank.search.embedders.base import Kind, Vectors

SUMMARY = "hashed words and letter trigrams (128-d): no meaning, no files; for tests"

_WORD = re.compile(r"\w+")

_DIMENSION = 128


class Hashing:
    """Counts each word and trigram in one of 128 signed components."""

    name: Final = "static"
    dimension: Final = _DIMENSION
    model_hash: Final = "blake3-words-trigrams-1"
    weight: Final = 0.1
    code_weight: Final = 0.1
    similarity_threshold: Final = 0.3

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> Vectors:
        """Return float32 rows of length 1, shape (len(texts), 128); no word gives zeros."""
        # start-up: `embedder list` imports this file for its SUMMARY
        from memory_bank.search.models import vectors

        np = vectors.np
        rows = np.zeros((len(texts), _DIMENSION), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word, count in Counter(_WORD.findall(text.casefold())).items():
                for place, sign in _features(word):
                    row[place] += sign * count
        return vectors.scale_to_unit(rows)


def fingerprint(settings: Settings) -> str:
    """Return the version of the hashing; no setting changes it."""
    return Hashing.model_hash


def load(settings: Settings) -> Hashing:
    """Return the embedder: it needs nothing."""
    return Hashing()


@lru_cache(maxsize=50_000)
def _features(word: str) -> tuple[tuple[int, int], ...]:
    framed = f"^{word}$"
    grams = [framed[start : start + 3] for start in range(len(framed) - 2)]
    return tuple(_place(feature) for feature in (framed, *grams))


def _place(feature: str) -> tuple[int, int]:
    # `surrogatepass`: what can't be encoded may still be compared
    digest = blake3(feature.encode("utf-8", "surrogatepass")).digest(length=4)
    number = int.from_bytes(digest, "little")
    return number % _DIMENSION, 1 if number >> 31 else -1
