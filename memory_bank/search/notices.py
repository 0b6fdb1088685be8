"""Remarks on a query: mistyped keys and values, and how words of time were read."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import datetime

from memory_bank.base.dates import iso
from memory_bank.base.errors import did_you_mean, similar_names
from memory_bank.search import boosts
from memory_bank.search.manifest import document_rows, filters
from memory_bank.search.manifest.filters import Condition
from memory_bank.search.manifest.manifest import Manifest
from memory_bank.search.query import KEYS, SYNONYMS, Unread
from memory_bank.search.retrievers.keyword import analyzer
from memory_bank.search.times import TimeWords

_SHORTEST = 3
"""Letters of the shortest key that is taken for a mistyped one."""

_KEY_SIMILARITY = 0.75
"""So high that `file:` and `http:` are words, and low enough for `tipe:`."""

_MOST = 2
"""Most suggestions of a remark."""

_MOST_WORDS = 3
"""Most words that are named as those that no note has."""

_DAY = len("2026-05-08")


def remarks(
    manifest: Manifest, unread: Collection[Unread], conditions: Iterable[Condition]
) -> tuple[str, ...]:
    """Return what may be mistyped in the conditions of a query, and in words that look like one."""
    found = list(_of_keys(manifest, unread))
    for condition in conditions:
        found += _of_values(manifest, condition)
    return tuple(dict.fromkeys(found))


def lacking_words(
    text: str, counts: Callable[[Collection[str]], dict[str, int]], *, names: bool
) -> str:
    """Return the remark that no note has some words of a question; empty if all are in notes.

    `counts` returns in how many passages stems are. With `names`, only names and identifiers are
    named: where notes answer, they may well do so in other words.
    """
    words = dict.fromkeys(
        word
        for position, said in analyzer.query_words(text)
        if (word := re.split("['\u2019]", said)[0])
        and len(word) >= _SHORTEST
        and not analyzer.grams(word)  # an index has no words of scripts without spaces
        and (not names or analyzer.is_name(position, word) or re.search(r"[\d_]|[a-z][A-Z]", word))
    )
    stems = {word: analyzer.stems(word) for word in words}
    found = counts({stem for some in stems.values() for stem in some}) if stems else {}
    lacking = [word for word, some in stems.items() if any(not found[stem] for stem in some)]
    if not lacking or "*" in text:
        return ""
    named = ", ".join(map(repr, lacking[:_MOST_WORDS]))
    return f"no note has the word{'s' * (len(lacking) > 1)} {named}"


def restricted(times: TimeWords, kind: str) -> str:
    """Return the remark that words of time restrict an answer, and which type comes first."""
    first = f"; those of type {kind} first" if kind else ""
    return f"only notes {_span(times)}, from the words {times.words!r}{first}"


def lifted(times: TimeWords) -> str:
    """Return the remark that no note of that time answers the query."""
    return (
        f"no note {_span(times)} answers this (the words {times.words!r}):"
        " these are notes of all dates"
    )


def _span(times: TimeWords) -> str:
    return " and ".join(f"{one.key} {_day(one.value)}" for one in times.conditions)


def _day(moment: object) -> str:
    if not isinstance(moment, datetime):
        return str(moment)
    shown = iso(moment)
    return shown[:_DAY] if shown.endswith("T00:00:00Z") else shown


def _of_keys(manifest: Manifest, unread: Collection[Unread]) -> Iterator[str]:
    if not unread:
        return
    known = {*KEYS, *SYNONYMS, *filters.fields(manifest)}
    for one in unread:
        key = one.key.lower()
        if key == boosts.KEY:
            yield (
                f"{one.key}:{one.value} was read as a word: write one of"
                f" {', '.join((*boosts.TIERS, boosts.UNKNOWN))}, or {key}:>={boosts.HUMAN}"
            )
        elif SYNONYMS.get(key, key) in KEYS:
            yield (
                f"{one.key}:{one.value} was read as a word, since {one.value!r} is no time;"
                f' write {key}:7d, {key}:2026-05-08 or {key}:"last week"'
            )
        elif key.isalpha() and len(key) >= _SHORTEST and not one.value.startswith("//"):
            near = similar_names(key, known, most=1, least=_KEY_SIMILARITY)
            if near:
                yield f"{one.key}: is no key{did_you_mean(f'{name}:' for name in near)}"


def _of_values(manifest: Manifest, condition: Condition) -> Iterator[str]:
    """Yield a remark for each value of a condition that no note has."""
    key, value = condition.key, condition.value
    if not isinstance(value, str) or key in {"links", boosts.KEY}:
        return
    for one in filter(None, map(str.strip, value.split(","))):
        if filters.met_by_any(manifest, key, one):
            continue
        bare = one.strip("/").lstrip("#")
        near = [
            name
            for name in similar_names(bare, _values(manifest, key), most=_MOST + 1)
            if name.casefold() != bare.casefold()
        ][:_MOST]
        if near or not condition.negated:
            lacking = f"there is no folder {one}" if key == "in" else f"no note has {key}:{one}"
            yield lacking + did_you_mean(f"{key}:{name}" for name in near)


def _values(manifest: Manifest, key: str) -> Collection[str]:
    """Return the values that notes have for a key."""
    from memory_bank.notes import schema

    if key != "in":
        kinds = schema.KNOWN_TYPES if key == "type" else ()
        return [*document_rows.counts(manifest, key.casefold()), *kinds]
    parts = [path.split("/")[:-1] for _, path in document_rows.all_keys(manifest)]
    return {"/".join(part[:depth]) for part in parts for depth in range(1, len(part) + 1)}
