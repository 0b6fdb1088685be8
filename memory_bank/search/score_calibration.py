"""Make the scores of several kinds and indices comparable, and fuse them into one order.

A result is ranked by the likelihood that it answers. The likelihoods of the engine were fitted to
notes; those of files are lower by a factor, so that a file that happens to have the words does not
hide the note that answers.

Each index's own rarities and its own best score would overrate the hits of the one that knows
least of the question: what is rare there is common elsewhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from memory_bank.base import NamedTuple
from memory_bank.search.retrievers.base import Scale
from memory_bank.search.retrievers.keyword import keyword_query
from memory_bank.search.retrievers.keyword.analyzer import split_bigrams, weighted_stems
from memory_bank.search.retrievers.keyword.keyword_query import PERFECT_CAP

FILES = 0.6
"""Factor of the likelihoods of files, which were fitted to notes."""

LIKELY_FILE = 0.34
"""Least likelihood of the best file, with that factor, for a question that files answer.

Of questions about three projects, 45 of 45 that their files answer reach it, and 8 of 72 about
other things.
"""

COUPLING_WEIGHT = 0.8
"""Share of a file's likelihood that a file which always changes with it gets."""


COSINES = Scale(0.09, 0.41)
"""The scale of cosines for all indices: the usual mean, and four usual deviations above it."""


class WordCounts(NamedTuple):
    """How many passages an index has, and how many have each word."""

    size: int
    passages: Mapping[str, int]


class CommonScales(NamedTuple):
    """What the scores of one question have in common in several indices."""

    rarities: Mapping[str, float]
    """By word: a stem, or a bigram; of a word that nobody has, what a perfect passage gets."""
    scales: Mapping[str, Scale]
    """By retriever."""


def counted_words(text: str) -> list[str]:
    """Return the words of a question that are counted: stems, and bigrams."""
    return list(dict.fromkeys([*weighted_stems(text), *split_bigrams(text).split()]))


def measure_rarities(words: Iterable[str], counts: Sequence[WordCounts]) -> dict[str, float]:
    """Return the rarity of each word among the passages of all indices."""
    size = sum(word_counts.size for word_counts in counts)
    total: Counter[str] = Counter()
    for word_counts in counts:
        total.update(word_counts.passages)
    return {word: keyword_query.expected_score(total[word], size) for word in words}


def common_scales(
    text: str, fields: Mapping[str, float], best: Sequence[Mapping[str, float]]
) -> CommonScales:
    """Return the common scales of a question's text, from the best scores in each index."""
    perfect = sum(weight * fields.get(stem, 0.0) for stem, weight in weighted_stems(text).items())
    scales = {"vectors": COSINES}
    for name in ("keyword", "notes"):
        most = max((scores.get(name, 0.0) for scores in best), default=0.0)
        scales[name] = Scale(0.0, min(perfect, PERFECT_CAP * most) if perfect else most)
    return CommonScales(fields, scales)
