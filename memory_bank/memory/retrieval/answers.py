"""What `recall` and `ask` answer: notes, results of any kind, and excerpts that fit."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Literal

from memory_bank.bank.bank import Bank
from memory_bank.bank.hits import ShownNote
from memory_bank.bank.note_files import SESSION
from memory_bank.base import NamedTuple
from memory_bank.base.rendering import count
from memory_bank.base.text import estimate
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
    return parse(query, keys, times=times)


_ENOUGH = 600
"""Tokens of a note's excerpt beyond which its other sentences say little about the question."""

_LEAST = 40
"""Fewest tokens that an excerpt is worth its frame."""

_WEAK = 80
"""Most tokens of a note that is only a weak match."""

_WEAK_SESSIONS, _OF_SESSION = 1, 400
"""Weak sessions that come with text, and most tokens of a good one."""

_FRAME = 60
"""Tokens of a note's place, type, author and dates in an answer."""


def shorten_sessions(answer: Answer) -> Answer:
    """Cut sessions to what answers best: the first weak one to a few sentences, others to none."""
    notes, weak_left = list[ShownNote](), _WEAK_SESSIONS
    for note in answer.notes:
        if note.meta.type != SESSION or not note.content:
            notes.append(note)
        elif note.weak and not weak_left:
            notes.append(note._replace(content="", snippet="", also=()))
        else:
            weak_left -= note.weak
            most = _WEAK if note.weak else _OF_SESSION
            text = snippets.cut_excerpt(note.content, answer.query, most).text
            snippet = "" if note.weak else note.snippet
            notes.append(note._replace(content=text, snippet=snippet, also=()))
    return answer._replace(notes=tuple(notes))


def fit_to_tokens(
    answer: Answer,
    tokens: int,
    frame: Callable[[ShownNote], int] = lambda _: _FRAME,
    *,
    most: int = _ENOUGH,
) -> Answer:
    """Replace the texts of notes by excerpts that fit a number of tokens together.

    The best note gets as much as it needs, `most` tokens at most, then the next; those that nothing
    is left for come without text. `frame` returns the tokens that a note takes besides its excerpt.
    """
    notes = []
    for note in answer.notes:
        room = min(tokens - frame(note), _WEAK if note.weak else most)
        text = snippets.cut_excerpt(note.content, answer.query, room).text if room >= _LEAST else ""
        tokens -= estimate(text) + frame(note) if text else 0
        notes.append(note._replace(content=text, snippet=note.snippet if text else "", also=()))
    return answer._replace(notes=tuple(notes))


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


SCHEMA_VERSION = "1.0"

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


class Answer(NamedTuple):
    """What answers a query, the most relevant first: notes, or of `ask` results of all kinds."""

    schema_version: str
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
