"""The results of `ask`: one record a kind, and the answer."""

from __future__ import annotations

from typing import Literal, NamedTuple

SCHEMA_VERSION = "1.0"

SYMBOLS, NOTES, DOCS, COUPLING, TESTS = "symbols", "notes", "docs", "coupling", "tests"

COMMITS: Literal["commits"] = "commits"

INCLUDE = (SYMBOLS, NOTES, DOCS, COUPLING, TESTS, COMMITS)
"""Words for what is searched."""


class SymbolResult(NamedTuple):
    """A function, class, method or other definition."""

    id: str
    title: str
    """Its qualified name."""
    snippet: str
    """The first sentence of its doc comment, else its signature."""
    relevance_score: float
    file: str
    line: int
    language: str
    kind: Literal["symbol"] = "symbol"


class NoteResult(NamedTuple):
    """A note of the bank, by its best section."""

    id: str
    title: str | None
    snippet: str
    relevance_score: float
    tags: tuple[str, ...]
    source_type: str
    path: str
    line: int
    created_at: str
    kind: Literal["note"] = "note"

    @property
    def nullable(self) -> frozenset[str]:
        """A title that a note doesn't have is null in JSON."""
        return frozenset({"title"})


class DocResult(NamedTuple):
    """A Markdown file of the repository that is no note, by its best section."""

    id: str
    """Its path and heading."""
    title: str
    snippet: str
    relevance_score: float
    path: str
    line: int
    kind: Literal["doc"] = "doc"


class GuardResult(NamedTuple):
    """A test, by what it says should happen."""

    id: str
    title: str
    snippet: str
    """The source line that names it."""
    relevance_score: float
    test_file: str
    line: int
    kind: Literal["test_guard"] = "test_guard"


class CoupledFileResult(NamedTuple):
    """A file that changes together with one of the results."""

    id: None
    title: str
    """Its path."""
    snippet: str
    relevance_score: float
    fused_score: float
    coupling_type: str
    kind: Literal["coupled_file"] = "coupled_file"

    @property
    def nullable(self) -> frozenset[str]:
        """The id of a file is null in JSON."""
        return frozenset({"id"})


class CommitResult(NamedTuple):
    """A commit whose message says why."""

    id: str
    title: str
    """Its subject."""
    snippet: str
    relevance_score: float
    author: str
    created_at: str
    kind: Literal["commit"] = "commit"


Result = CommitResult | SymbolResult | NoteResult | DocResult | GuardResult | CoupledFileResult


class Answer(NamedTuple):
    """The results of all kinds, the most relevant first."""

    schema_version: str
    query: str
    mode_used: str
    fallback_reason: str | None
    """Why it was not searched by meaning, if so."""
    result_count: int
    results: tuple[Result, ...]
    problem: str | None = None
    """What could not be searched, and why results may be missing."""


_SHORT, _DAY = 8, 10
"""Digits of a commit's id that are shown, and characters of its date."""


def file_of(result: Result) -> str:
    """Return the file of a result: of a note, its path in the bank; of a commit, what it is."""
    if isinstance(result, SymbolResult):
        return result.file
    if isinstance(result, GuardResult):
        return result.test_file
    if isinstance(result, CommitResult):
        return f"commit {result.id[:_SHORT]} {result.created_at[:_DAY]} {result.author}"
    return result.title if isinstance(result, CoupledFileResult) else result.path


def line_of(result: Result) -> int:
    """Return the line of a result; 0 for a whole file."""
    return 0 if isinstance(result, CoupledFileResult | CommitResult) else result.line
