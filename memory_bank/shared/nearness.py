"""Score words of a question that stand near each other in a passage, as the keyword index does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memory_bank.retrievers.keyword.analyzer import stems
from memory_bank.retrievers.keyword.query_builder import PROXIMITY, SLOP
from memory_bank.shared.engine import SharedPassage
from memory_bank.shared.word_weights import saturated

Pairs = Sequence[tuple[str, str]]


def nearness(pairs: Pairs, rarities: Mapping[str, float], passage: SharedPassage) -> float:
    """Return what pairs of words, adjacent in the question, add to a passage's score."""
    words = stems("\n".join((passage.title, *passage.headings, passage.text)))
    places: dict[str, list[int]] = {stem: [] for pair in pairs for stem in pair}
    for place, word in enumerate(words):
        if word in places:
            places[word].append(place)
    total = 0.0
    for first, second in pairs:
        count = sum(
            any(0 < after - before <= SLOP + 1 for before in places[first])
            for after in places[second]
        )
        rarity = rarities.get(first, 0.0) + rarities.get(second, 0.0)
        total += PROXIMITY * rarity * saturated(count, passage.words)
    return total
