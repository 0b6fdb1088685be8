"""The likeness of two texts: the share of words that they have in common."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping
from typing import TypeVar

MAX_CHARACTERS = 20_000
"""Maximum length of the start of a text that is compared."""
_CJK = "\u3040-\u9fff\uac00-\ud7af"
_WORD = re.compile(rf"[{_CJK}]|[^\W{_CJK}]+")
_RAREST = 24
"""Number of words by which texts to compare are found: the rarest."""
_COMMON = 200
"""Number of texts that have a word which finds none."""
_COMPARED = 5

Words = Counter[str]
Key = TypeVar("Key", bound=Hashable)


def words_of(text: str) -> Words:
    """Return the words of a text in lower case with their numbers; a CJK character is a word."""
    return Counter(_WORD.findall(text[:MAX_CHARACTERS].lower()))


def share(one: Words, other: Words) -> float:
    """Return the share of words in common: 1 for the same words, whatever their order."""
    return 2 * (one & other).total() / ((one.total() + other.total()) or 1)


def pairs(before: Mapping[Key, Words], after: Mapping[Key, Words], least: float) -> dict[Key, Key]:
    """Map keys of texts to those of the most similar ones, at least `least`; each text is once.

    Texts are compared if they share rare words: at most five for each.
    """
    having: defaultdict[str, list[Key]] = defaultdict(list)
    for key, words in before.items():
        for word in words:
            having[word].append(key)
    scored: list[tuple[float, int, int]] = []
    olds, news = list(before), list(after)
    numbers = {key: number for number, key in enumerate(olds)}
    for number, words in enumerate(after.values()):
        known = sorted((len(having[word]), word) for word in words if word in having)
        seen: Counter[Key] = Counter()
        for count, word in known[:_RAREST]:
            seen.update(having[word] if count <= _COMMON else ())
        near = sorted(seen, key=lambda key: (-seen[key], numbers[key]))[:_COMPARED]
        for key in near:
            likeness = share(before[key], words)
            if likeness >= least:
                scored.append((-likeness, number, numbers[key]))
    found: dict[Key, Key] = {}
    taken: set[int] = set()
    for _, new, old in sorted(scored):
        if new not in taken and olds[old] not in found:
            found[olds[old]] = news[new]
            taken.add(new)
    return found
