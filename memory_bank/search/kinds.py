"""Fuse the results of several kinds (notes, symbols, tests …) into one order.

A result is ranked by the likelihood that it answers. The likelihoods of the engine were fitted to
notes; those of the other kinds are lower by the factors SHARES, so that a symbol that happens to
have the words does not hide the note that answers. Each further result of the same kind, and of the
same file, counts a little less. All factors were measured by `tests/benchmarks/ask.py`, on messages
of commits (which files did they change?) and on questions about notes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

SHARES: Mapping[str, float] = {"symbols": 0.5, "docs": 0.55, "tests": 0.4}
"""Factors of likelihoods by kind; 1 for the others."""
_NAMED: Mapping[str, frozenset[str]] = {
    "tests": frozenset(["test", "tests", "tested"]),
    "symbols": frozenset(["function", "class", "method", "symbol", "code"]),
    "docs": frozenset(["docs", "documentation", "documented", "readme"]),
}
"""Words of a question that name a kind, whose results are then as likely as notes."""
COUPLING_WEIGHT = 0.8
"""Share of a file's likelihood that a file which always changes with it gets."""
SAME_KIND = 0.97
"""Factor for each better result of the same kind."""
SAME_FILE = 0.7
"""Factor for each better result of the same file."""


class Scored(NamedTuple):
    """A result of one kind, with what it is ranked by."""

    number: int
    """Its place among all results that are fused."""
    kind: str
    file: str
    score: float
    """The likelihood that it answers, 0 to 1."""


def share(kind: str, question: str) -> float:
    """Return the factor of the likelihoods of a kind; 1 if the question names it."""
    words = set(re.findall(r"\w+", question.lower()))
    return 1.0 if words & _NAMED.get(kind, frozenset()) else SHARES.get(kind, 1.0)


def either(one: float, other: float) -> float:
    """Return the likelihood that one of two independent pieces of evidence is right."""
    return 1 - (1 - one) * (1 - other)


def by_likelihood(found: Iterable[Scored]) -> list[Scored]:
    """Order results by likelihood, less for each better one of the same kind and file."""
    kinds, files = Counter[str](), Counter[str]()
    ranked = []
    for one in sorted(found, key=lambda one: (-one.score, one.number)):
        factor = SAME_KIND ** kinds[one.kind] * SAME_FILE ** files[one.file]
        kinds[one.kind] += 1
        files[one.file] += 1
        ranked.append(one._replace(score=one.score * factor))
    return sorted(ranked, key=lambda one: (-one.score, one.number))


def by_ranks(lists: Sequence[Sequence[Scored]], k: float) -> list[Scored]:
    """Order results by reciprocal rank in the list of their kind; the first of a list gets 1."""
    ranked = [
        one._replace(score=(k + 1) / (k + place))
        for found in lists
        for place, one in enumerate(sorted(found, key=lambda one: -one.score), 1)
    ]
    return sorted(ranked, key=lambda one: (-one.score, one.number))
