"""Explain why a hit was found: the parts of its score, in a few groups."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from memory_bank.search.hits import Reason

WORDS, MEANING, LINKS, BOOSTS = "words", "meaning", "links", "boosts"
GROUPS = (WORDS, MEANING, LINKS, BOOSTS)
_GROUP_OF = {
    "vectors": MEANING,
    "neighbours": LINKS,
    "container": LINKS,
}
"""The groups of parts that are added; those of other retrievers are words."""
_FACTORS = frozenset({"recency", "access", "trust", "session", "stale", "supersedes"})
_ALL = "conditions"
_LEAST = 0.005
"""Least share of a part that is shown."""


class Part(NamedTuple):
    """The part of a score that comes from one group."""

    group: str
    start: float
    share: float
    """Where it begins and how long it is, as shares of the whole score."""


class Why(NamedTuple):
    """The reasons of a hit."""

    parts: tuple[Part, ...]
    """None if it was found by conditions or by another hit."""
    reasons: tuple[Reason, ...]
    factors: tuple[Reason, ...]
    """What multiplied the sum of the reasons."""


def why(given: Iterable[Reason]) -> Why:
    """Return the reasons of a hit, and how long the part of each group is on a bar."""
    given = tuple(given)
    factors = tuple(one for one in given if one.source in _FACTORS)
    reasons = tuple(one for one in given if one.source not in _FACTORS)
    sums = dict.fromkeys(GROUPS, 0.0)
    for one in reasons:
        if one.source != _ALL:
            sums[_GROUP_OF.get(one.source, WORDS)] += max(one.score, 0.0)
    base, factor = sum(sums.values()), 1.0
    for one in factors:
        factor *= one.score
    if factor > 1:
        sums[BOOSTS] = base * (factor - 1)
    else:
        sums = {group: share * factor for group, share in sums.items()}
    total = sum(sums.values())
    parts, start = [], 0.0
    for group, share in sums.items() if total > 0 else ():
        if share >= _LEAST * total:
            parts.append(Part(group, start / total, share / total))
            start += share
    return Why(tuple(parts), reasons, factors)
