"""Weigh the words of a passage and of a question for BM25 with the rarity left out.

A passage's row has only what its own text says (the saturated frequency of each word), so that it
never goes stale; a question brings the rarity of its words, counted when it is asked. Robertson and
Zaragoza 2009, with the parameters of the local keyword index.

The engine applies those on repository, type, tag and date before ranking. Others are checked
on the notes that it finds, as far as these have what is asked for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime

from blake3 import blake3

from memory_bank.search.manifest.filters import HIDING, REPO, Condition
from memory_bank.search.retrievers.keyword.analyzer import (
    FIELDS,
    GRAMS,
    TARGETS,
    join_fields,
    stem_words,
)
from memory_bank.search.retrievers.keyword.keyword_query import PROXIMITY, SLOP
from memory_bank.shared.engines.base import SharedPassage, Where

_K1, _B = 1.2, 0.75

USUAL_WORDS = 75.0
"""Words of a passage of usual length."""

_USUAL_LENGTH = {
    "body": USUAL_WORDS,
    "identifiers": 8.0,
    "about": 4.0,
    TARGETS: 4.0,
    GRAMS: USUAL_WORDS,
}
"""Words of a field in a passage of usual length: a fixed number, so that weights don't depend on
the other passages."""

_NUMBERS = 999_999_998
"""Words are numbered from 1 up to this: a sparse vector has fewer than 10^9 dimensions."""

DIMENSIONS = _NUMBERS + 1

_MOST_TERMS = 8000
"""Maximum number of words of a passage that are kept, the heaviest; a sparse vector has 16,000."""


def number_word(word: str) -> int:
    """Return the number of a word; two words rarely have the same."""
    digest = blake3(word.encode("utf-8", "surrogatepass")).digest(length=8)
    return int.from_bytes(digest, "big") % _NUMBERS + 1


def weigh_terms(
    title: str, headings: Sequence[str], text: str, *, keywords: str = "", about: str = ""
) -> dict[int, float]:
    """Return the weight of each word of a passage, by its number."""
    weights: dict[int, float] = {}
    fields = join_fields(title, [(tuple(headings), text)], keywords=keywords, about=about)
    for field, content in fields.items():
        words = content.split() if field == GRAMS else stem_words(content)
        least = _K1 * (1 - _B + _B * len(words) / _USUAL_LENGTH[field])
        weight = FIELDS.get(field, 1.0) * (_K1 + 1)
        for word, count in Counter(words).items():
            number = number_word(word)
            weights[number] = weights.get(number, 0.0) + weight * count / (count + least)
    if len(weights) > _MOST_TERMS:
        weights = dict(sorted(weights.items(), key=lambda pair: -pair[1])[:_MOST_TERMS])
    return weights


def saturate(count: int, words: int) -> float:
    """Return the weight of something that a passage of so many words has a number of times."""
    return (_K1 + 1) * count / (count + _K1 * (1 - _B + _B * words / USUAL_WORDS))


_VALUES: dict[str, Callable[[SharedPassage], Sequence[str]]] = {
    REPO: lambda passage: (passage.head.repo,),
    "type": lambda passage: (passage.note.type,),
    "tag": lambda passage: passage.note.tags,
    HIDING: lambda passage: (passage.note.status,),
    "in": lambda passage: (passage.note.path,),
}
"""The values of a note that a condition is compared with."""


Translation = tuple[Where, Sequence[Callable[[SharedPassage], bool]], Sequence[str]]
"""What the engine is asked, what is checked then, and keys that the shared index doesn't know."""


def translate_conditions(
    conditions: Iterable[Condition], *, without_repo: str, hidden: bool
) -> Translation:
    """Translate the conditions of a query; `hidden` lets archived notes be found."""
    where = Where(without_repo=without_repo, hidden=hidden)
    checked: list[Condition] = []
    unknown: list[str] = []
    for condition in conditions:
        if condition.key == HIDING:
            where = where._replace(hidden=True)
        if (added := _add_condition(where, condition)) is not None:
            where = added
        elif isinstance(condition.value, datetime) or condition.key in _VALUES:
            checked.append(condition)
        elif not condition.negated:
            unknown.append(condition.key)
    return where, [_check_of(condition) for condition in checked], unknown


def meets_conditions(conditions: Iterable[Condition], repo: str) -> bool:
    """Tell whether a repository meets the conditions on repositories."""
    return all(
        _meets_condition(condition, (repo,)) is not condition.negated
        for condition in conditions
        if condition.key == REPO
    )


def _add_condition(where: Where, condition: Condition) -> Where | None:
    """Add a condition to those of the engine; None if it can't be."""
    if condition.negated:
        return None
    if isinstance(condition.value, datetime):
        when = condition.value.timestamp()
        if condition.key == "since" and where.since is None:
            return where._replace(since=when)
        return (
            where._replace(before=when) if condition.key == "before" and not where.before else None
        )
    return _add_names(where, condition.key, _values(condition))


def _add_names(where: Where, key: str, values: tuple[str, ...]) -> Where | None:
    if key == REPO and not where.repos:
        return where._replace(repos=values)
    if key == "type" and not where.types:
        return where._replace(types=values)
    single = key == "tag" and len(values) == 1
    return where._replace(tags=(*where.tags, *values)) if single else None


def _check_of(condition: Condition) -> Callable[[SharedPassage], bool]:
    def check(passage: SharedPassage) -> bool:
        if isinstance(condition.value, datetime):
            when = condition.value.timestamp()
            late = max(passage.note.created, passage.note.updated) >= when
            is_met = late if condition.key == "since" else passage.note.created < when
        else:
            is_met = _meets_condition(condition, _VALUES[condition.key](passage))
        return is_met is not condition.negated

    return check


def _meets_condition(condition: Condition, texts: Sequence[str]) -> bool:
    """Tell whether one of the values of a condition is among those found."""
    values = _values(condition)
    if condition.key == REPO:
        return any(
            name == value or name.endswith(f"/{value}") for name in texts for value in values
        )
    if condition.key == "in":
        return any(path.startswith(f"{word.strip('/')}/") for path in texts for word in values)
    folded = {value.casefold() for value in texts}
    return any(value.casefold() in folded for value in values)


def _values(condition: Condition) -> tuple[str, ...]:
    parts = (part.strip() for part in str(condition.value).split(","))
    return tuple(part.lstrip("#") or part for part in parts if part)


Pairs = Sequence[tuple[str, str]]


def weigh_nearness(pairs: Pairs, rarities: Mapping[str, float], passage: SharedPassage) -> float:
    """Return what pairs of words, adjacent in the question, add to a passage's score."""
    words = stem_words("\n".join((passage.note.title, *passage.headings, passage.text)))
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
        total += PROXIMITY * rarity * saturate(count, passage.words)
    return total
