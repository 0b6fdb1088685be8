"""Weigh the words of a passage and of a question for BM25 with the rarity left out.

A passage's row has only what its own text says (the saturated frequency of each word), so that it
never goes stale; a question brings the rarity of its words, counted when it is asked. Robertson and
Zaragoza 2009, with the parameters of the local keyword index.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import log

from blake3 import blake3

from memory_bank.retrievers.keyword.analyzer import grams, stems, weighted_stems
from memory_bank.retrievers.keyword.fields import FIELDS, GRAMS, fields_of
from memory_bank.shared.engine import AskedWord

_K1, _B = 1.2, 0.75
USUAL_WORDS = 75.0
"""Words of a passage of usual length."""
_USUAL_LENGTH = {"body": USUAL_WORDS, "identifiers": 8.0, "about": 4.0, GRAMS: USUAL_WORDS}
"""Words of a field in a passage of usual length: a fixed number, so that weights don't depend on
the other passages."""
_NUMBERS = 999_999_998
"""Words are numbered from 1 up to this: a sparse vector has fewer than 10^9 dimensions."""
DIMENSIONS = _NUMBERS + 1
_MOST_TERMS = 8000
"""Maximum number of words of a passage that are kept, the heaviest; a sparse vector has 16,000."""


def number_of(word: str) -> int:
    """Return the number of a word; two words rarely have the same."""
    digest = blake3(word.encode("utf-8", "surrogatepass")).digest(length=8)
    return int.from_bytes(digest, "big") % _NUMBERS + 1


def terms_of(
    title: str, headings: Sequence[str], text: str, *, keywords: str = "", about: str = ""
) -> dict[int, float]:
    """Return the weight of each word of a passage, by its number."""
    found: dict[int, float] = {}
    fields = fields_of(title, [(tuple(headings), text)], keywords=keywords, about=about)
    for field, content in fields.items():
        words = content.split() if field == GRAMS else stems(content)
        least = _K1 * (1 - _B + _B * len(words) / _USUAL_LENGTH[field])
        weight = FIELDS.get(field, 1.0) * (_K1 + 1)
        for word, count in Counter(words).items():
            number = number_of(word)
            found[number] = found.get(number, 0.0) + weight * count / (count + least)
    if len(found) > _MOST_TERMS:
        found = dict(sorted(found.items(), key=lambda pair: -pair[1])[:_MOST_TERMS])
    return found


def saturated(count: int, words: int) -> float:
    """Return the weight of something that a passage of so many words has a number of times."""
    return (_K1 + 1) * count / (count + _K1 * (1 - _B + _B * words / USUAL_WORDS))


def question_words(text: str) -> dict[int, float]:
    """Return the weight of each word of a question, by its number."""
    found = {number_of(word.stem): word.weight for word in weighted_stems(text)}
    for gram in grams(text).split():
        found.setdefault(number_of(gram), 1.0)
    return found


def rarity(passages: int, size: int) -> float:
    """Return the rarity of a word that some of all passages have."""
    return log(1 + (size - passages + 0.5) / (passages + 0.5)) if size >= passages else 0.0


def asked_words(
    words: Mapping[int, float], frequencies: Mapping[int, int], size: int
) -> list[AskedWord]:
    """Return the words of a question that some passage has, weighed by their rarity."""
    return [
        AskedWord(number, weight * rarity(frequencies[number], size), frequencies[number])
        for number, weight in words.items()
        if frequencies.get(number)
    ]
