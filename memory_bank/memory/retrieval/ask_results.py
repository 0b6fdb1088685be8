"""The results of `ask`: one record a kind, and the answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

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


@dataclass(frozen=True, slots=True)
class _Found:
    """What was found, of any kind."""

    id: str | None
    title: str | None
    snippet: str
    relevance_score: float
    """0 to 1."""

    @property
    def nullable(self) -> frozenset[str]:
        """An id that a file, and a title that a note doesn't have are null in JSON."""
        return frozenset({"id", "title"})


@dataclass(frozen=True, slots=True)
class SymbolResult(_Found):
    """A function, class, method or other definition, by its qualified name.

    Its snippet is the first sentence of its doc comment, else its signature.
    """

    id: str
    file: str
    line: int
    language: str
    kind: Literal["symbol"] = "symbol"


@dataclass(frozen=True, slots=True)
class NoteResult(_Found):
    """A note of the bank, by its best section."""

    id: str
    tags: tuple[str, ...]
    source_type: str
    path: str
    line: int
    created_at: str
    kind: Literal["note"] = "note"
    description: str | None = None
    """What it is about, as its front matter says."""


@dataclass(frozen=True, slots=True)
class DocResult(_Found):
    """A Markdown file of the repository that is no note, by its best section; both are its id."""

    path: str
    line: int
    kind: Literal["doc"] = "doc"


@dataclass(frozen=True, slots=True)
class GuardResult(_Found):
    """A test, by what it says should happen; its snippet is the source line that names it."""

    test_file: str
    line: int
    kind: Literal["test_guard"] = "test_guard"


@dataclass(frozen=True, slots=True)
class CoupledFileResult(_Found):
    """A file that changes together with one of the results; its title is its path."""

    title: str
    fused_score: float
    coupling_type: str
    kind: Literal["coupled_file"] = "coupled_file"


@dataclass(frozen=True, slots=True)
class CommitResult(_Found):
    """A commit whose message says why, by its subject."""

    id: str
    title: str
    author: str
    created_at: str
    kind: Literal["commit"] = "commit"


Result = CommitResult | SymbolResult | NoteResult | DocResult | GuardResult | CoupledFileResult


UNANSWERED = "probably nothing here answers this"


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
    answered: bool = True
    """Whether a result may answer: False if all matches are weak, or there are none."""


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
