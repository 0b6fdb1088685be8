"""What `recall` answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from memory_bank.bank.bank import Bank
from memory_bank.bank.hits import RecalledNote
from memory_bank.base.dates import iso
from memory_bank.search import snippets
from memory_bank.search.manifest import filters
from memory_bank.search.query import parse


class AsOf(NamedTuple):
    """A revision of the repository."""

    commit: str
    """Its full id; of what is staged, that of HEAD."""
    asked: str
    """The name that was asked for."""
    committed_at: str


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


SCHEMA_VERSION = "1.0"


class Recalled(NamedTuple):
    """An answer: notes by relevance, the mode used, and problems of the search."""

    schema_version: str
    query: str
    mode_used: str
    fallback_reason: str | None
    result_count: int
    notes: tuple[RecalledNote, ...]
    problem: str | None = None
    answered: bool = True
    """Whether a note may answer: False if none was found, or surely none of them does."""
    notices: tuple[str, ...] = ()
    """How words of time restricted the answer, and what may be mistyped in the query."""
    rev: AsOf | None = None
    """The revision as of which the notes are; None for now."""

    @property
    def apart(self) -> bool:
        """Whether weak notes are set apart: from others, or since none answers."""
        return not self.answered or any(not note.weak for note in self.notes)
