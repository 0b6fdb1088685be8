"""Weigh the words of a question by their rarity in one index, without the bank's own words."""

from collections.abc import Mapping
from math import log

from memory_bank.search.retrievers.keyword.analyzer import split_bigrams, weighted_stems
from memory_bank.shared.engines.base import AskedWord
from memory_bank.shared.word_weights import number_word


def question_words(text: str) -> dict[int, float]:
    """Return the weight of each word of a question, by its number."""
    found = {number_word(stem): weight for stem, weight in weighted_stems(text).items()}
    for gram in split_bigrams(text).split():
        found.setdefault(number_word(gram), 1.0)
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
