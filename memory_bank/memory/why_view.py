"""What `why` answers: the definition, what hangs on it, and the commits and notes behind it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memory_bank.base.hit_view import Place
from memory_bank.base.named_tuple import NamedTuple
from memory_bank.base.rendering import same_words
from memory_bank.base.screen import FOUND, NOTHING, Piece, cut
from memory_bank.base.view import Block, Part, View
from memory_bank.code.coupled import CoupledFile
from memory_bank.code.guards import Guard
from memory_bank.code.index.codebase import Codebase
from memory_bank.code.index.database import SymbolRow
from memory_bank.code.records import CallShown, CitingNote
from memory_bank.code.views import (
    calls_table,
    coupled_table,
    notes_table,
    tests_table,
    view_definition,
)

_INDENT = "   "

_DAY = 10
"""Characters of the date in a timestamp."""

_MOST_REASON = 400
"""Most characters of the reason of a commit or note."""

_MOST_TOKENS = 450
"""Most estimated tokens for agents: dense code has twice as many."""


class Behind(NamedTuple):
    """A commit or a note that is behind a file or a line."""

    kind: str
    """`commit` or `note`."""
    id: str
    """The commit's full id, or the note's path."""
    date: str
    title: str
    author: str
    reason: str
    """What the commit's message says besides its subject; of a note, the words of its link."""
    pull_request: int = 0
    """Its number, if the commit names one; 0 for none."""


class Why(NamedTuple):
    """What is behind a file or a line, the newest first."""

    schema_version: str
    path: str
    """Below the work tree."""
    line: int
    """0 for the whole file."""
    behind: tuple[Behind, ...]
    definition: SymbolRow | None = None
    """The innermost one around the line; None if the file differs from HEAD."""
    rules: tuple[CitingNote, ...] = ()
    """Notes whose `applies_to` means the file."""
    tests: tuple[Guard, ...] = ()
    """Those of the definition, else of the file."""
    called_by: tuple[CallShown, ...] = ()
    """Calls of the definition."""
    coupled: tuple[CoupledFile, ...] = ()
    """Files that may change with the file, as `blast_radius` has them."""
    problem: str | None = None


def view_why(answer: Why, code: Codebase | None = None) -> View:
    """Describe what is behind a file or a line, the newest first."""
    definition = answer.definition
    first = view_definition(definition, code) if definition else Block([[_of_line(answer)]])
    lines = [line for behind in answer.behind for line in _behind_lines(behind)]
    parts: list[Part] = [
        first,
        *calls_table("called by", answer.called_by, code),
        *coupled_table("may change with it", answer.coupled, code),
        *([Block(lines)] if lines else []),
        *notes_table(f"rules for {answer.path}", answer.rules),
        *tests_table(answer.tests, code),
    ]
    return View(
        "What is behind it, the newest first",
        parts,
        problem=answer.problem,
        code=FOUND if answer.behind or answer.rules or answer.tests else NOTHING,
        most_tokens=_MOST_TOKENS,
    )


def _of_line(answer: Why) -> str:
    return f"{answer.path}:{answer.line}" if answer.line else answer.path


def _behind_lines(behind: Behind) -> Iterator[Sequence[Piece | Place]]:
    """Yield the lines on a commit or a note: where and when, its title, and its reason."""
    name: Piece | Place = Place(behind.id)
    if behind.kind == "commit":
        name = (f"commit {behind.id[:8]}", "place")
    request = f"  #{behind.pull_request}" if behind.pull_request else ""
    author = f" {behind.author}" if behind.author else ""
    yield [name, f" {behind.date[:_DAY]}{author}{request}"]
    yield [_INDENT, (behind.title, "bold")]
    if behind.reason and not same_words(behind.title, behind.reason):
        yield [_INDENT, cut(" ".join(behind.reason.split()), _MOST_REASON)]
