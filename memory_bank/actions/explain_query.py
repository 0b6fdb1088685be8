"""Explanation of a parsed query: its words, phrases, exclusions and conditions."""

from __future__ import annotations

from dataclasses import dataclass

from memory_bank.bank import Bank
from memory_bank.manifest import filters
from memory_bank.notes.dates import iso
from memory_bank.search import snippets
from memory_bank.search.query import parse


@dataclass(frozen=True, slots=True)
class ReadQuery:
    """A parsed query."""

    words: str
    phrases: tuple[str, ...]
    without: tuple[str, ...]
    conditions: tuple[str, ...]
    """Each as `key:value`, with a `-` before a negated one."""


def matching_words(text: str, words: str) -> list[tuple[int, int]]:
    """Return where the words of a text are that match the words of a query, as start and end."""
    return snippets.matches(text, words) if words.strip() else []


def read_query(bank: Bank, query: str, *, times: bool = True) -> ReadQuery:
    """Parse a query as `recall` does; keys of this bank's front matter are conditions.

    `times`: whether words of time are conditions, too.
    """
    known = bank.read(lambda view: filters.fields(view.manifest)) if ":" in query else ()
    parsed = parse(query, known, times=times)
    return ReadQuery(
        words=parsed.question.text,
        phrases=parsed.question.required + parsed.question.preferred,
        without=parsed.question.excluded,
        conditions=tuple(
            f"{'-' * found.negated}{found.key}:"
            f"{found.value if isinstance(found.value, str) else iso(found.value)}"
            for found in parsed.conditions
        ),
    )
