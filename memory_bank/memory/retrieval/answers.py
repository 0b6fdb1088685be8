"""What `recall` and `ask` answer: notes, results of any kind, and excerpts that fit."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Literal

from memory_bank.bank.bank import Bank
from memory_bank.bank.records import ShownNote
from memory_bank.base import NamedTuple, with_schema_version
from memory_bank.base.rendering import count
from memory_bank.git.objects import Revision
from memory_bank.search import snippets
from memory_bank.search.manifest import filters
from memory_bank.search.query import Query, parse

_SPANS = ((365, "year"), (30, "month"), (7, "week"), (1, "day"))


def match_words(text: str, words: str) -> list[tuple[int, int]]:
    """Return the start and end of each word of a text that matches a word of a query."""
    return snippets.find_matches(text, words) if words.strip() else []


def read_query(bank: Bank, query: str, *, times: bool = True) -> Query:
    """Parse a query as `recall` does; keys of this bank's front matter are conditions.

    `times`: whether words of time are conditions, too.
    """
    keys = bank.read(lambda view: filters.list_fields(view.manifest)) if ":" in query else ()
    return parse(Query(query, reads_times=times), keys)


def format_age(moment: str) -> str:
    """Return the age of a timestamp: `3 days`, `2 months`."""
    days = (datetime.now(UTC) - datetime.fromisoformat(moment)).days
    for length, word in _SPANS:
        if days >= length:
            return count(days // length, word)
    return "today"


def name_authors(note: ShownNote) -> str:
    """Return the recorded author of a note, and the agents known to have changed it."""
    kind = "person" if note.meta.source_type == "manual" else note.meta.source_type
    author = f"{kind} {note.meta.source_agent}".strip()
    return f"{author}, edited by {', '.join(note.edited_by)}" if note.edited_by else author


def own_id(note_id: str, path: str) -> str:
    """Return a note's id, or an empty text if its path serves as the id."""
    return "" if note_id == path else note_id


SYMBOLS, NOTES, DOCS, COUPLING, TESTS = "symbols", "notes", "docs", "coupling", "tests"

COMMITS: Literal["commits"] = "commits"

INCLUDE = (SYMBOLS, NOTES, DOCS, COUPLING, TESTS, COMMITS)
"""Words for what is searched."""


KIND_OF = {
    "note": NOTES,
    "doc": DOCS,
    "commit": COMMITS,
    "symbol": SYMBOLS,
    "test_guard": TESTS,
    "coupled_file": COUPLING,
}
"""The words for what is searched by the kinds of results."""


class Result(NamedTuple):
    """A result of any kind; fields that only other kinds have are None."""

    id: str | None
    """A symbol's qualified name, a document's place."""
    title: str | None
    """A coupled file's path."""
    snippet: str
    """The first sentence of a symbol's doc comment, else its signature; the source line that names
    a test."""
    relevance_score: float
    """0 to 1."""
    file: str | None = None
    """Of a symbol."""
    test_file: str | None = None
    tags: tuple[str, ...] | None = None
    """Of a note."""
    source_type: str | None = None
    path: str | None = None
    """Of a note or a document."""
    line: int | None = None
    language: str | None = None
    author: str | None = None
    """Of a commit."""
    created_at: str | None = None
    fused_score: float | None = None
    """Of a coupled file."""
    coupling_type: str | None = None
    kind: Literal["note", "doc", "commit", "symbol", "test_guard", "coupled_file"] = "note"
    description: str | None = None
    """What a note is about, as its front matter says."""

    @property
    def nullable(self) -> frozenset[str]:
        """The fields that JSON has as null: a file has no id, a note may have no title."""
        return frozenset({"id", "title"})


UNANSWERED = "probably nothing here answers this"


@with_schema_version("1.0")
class Answer(NamedTuple):
    """What answers a query, the most relevant first: notes, or of `ask` results of all kinds."""

    query: str
    mode_used: str
    fallback_reason: str | None
    """Why it was not searched by meaning, if so."""
    result_count: int
    notes: tuple[ShownNote, ...] = ()
    results: tuple[Result, ...] | None = None
    """The results of `ask`; None if only notes were searched."""
    problem: str | None = None
    """What could not be searched, and why results may be missing."""
    answered: bool = True
    """Whether a match may answer: False if all are weak, or there are none."""
    notices: tuple[str, ...] = ()
    """How words of time restricted the answer, and what may be mistyped in the query."""
    rev: Revision | None = None
    """The revision as of which the notes are; None for now."""
    commits: tuple[Result, ...] | None = None
    """Commits whose messages answer, the best first; None if they were not included."""

    @property
    def sparse(self) -> frozenset[str]:
        """The fields that JSON omits when they are empty."""
        return frozenset(() if self.results is None else ("notes", "notices"))


_SHORT, _DAY = 8, 10
"""Digits of a commit's id that are shown, and characters of its date."""


def result_file(result: Result) -> str:
    """Return the path of a result's file: in the bank for a note; of a commit, id, date, author."""
    if result.kind == "commit":
        name, date = result.id or "", result.created_at or ""
        return f"commit {name[:_SHORT]} {date[:_DAY]} {result.author}"
    return result.file or result.test_file or result.path or result.title or ""


def result_line(result: Result) -> int:
    """Return the line of a result; 0 for a whole file."""
    return result.line or 0
