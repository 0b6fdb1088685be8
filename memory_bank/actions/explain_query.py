"""Say how a query is read: its words, phrases, what it leaves out, and its conditions."""

from __future__ import annotations

from dataclasses import dataclass

from memory_bank.bank import Bank
from memory_bank.manifest import filters
from memory_bank.notes.dates import iso
from memory_bank.search.query import parse


@dataclass(frozen=True, slots=True)
class ReadQuery:
    """A query taken apart."""

    words: str
    phrases: tuple[str, ...]
    without: tuple[str, ...]
    conditions: tuple[str, ...]
    """Each as `key:value`, with a `-` before one that must not be met."""


def read_query(bank: Bank, query: str) -> ReadQuery:
    """Take a query apart as `recall` does; keys of this bank's front matter are conditions."""
    known = bank.read(lambda view: filters.fields(view.manifest)) if ":" in query else ()
    parsed = parse(query, known)
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
