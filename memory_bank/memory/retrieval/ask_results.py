"""The results of `ask`: one record a kind, and the answer."""

from __future__ import annotations

from typing import Literal

from memory_bank.bank.hits import ShownNote
from memory_bank.base.named_tuple import NamedTuple
from memory_bank.git.objects import Revision

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
    """What was found, of any kind; the other kinds' fields are None."""

    id: str | None
    """Of a symbol its qualified name; of a document its place."""
    title: str | None
    """Of a coupled file its path."""
    snippet: str
    """Of a symbol the first sentence of its doc comment, else its signature; of a test, the source
    line that names it."""
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
        """An id that a file, and a title that a note doesn't have are null in JSON."""
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
    """Of `ask`; None if only notes were searched."""
    problem: str | None = None
    """What could not be searched, and why some may be missing."""
    answered: bool = True
    """Whether one may answer: False if all matches are weak, or there are none."""
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


def file_of(result: Result) -> str:
    """Return the file of a result: of a note, its path in the bank; of a commit, what it is."""
    if result.kind == "commit":
        name, date = result.id or "", result.created_at or ""
        return f"commit {name[:_SHORT]} {date[:_DAY]} {result.author}"
    return result.file or result.test_file or result.path or result.title or ""


def line_of(result: Result) -> int:
    """Return the line of a result; 0 for a whole file."""
    return result.line or 0
