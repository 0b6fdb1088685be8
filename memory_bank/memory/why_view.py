"""What `why` answers: the definition, what hangs on it, and the commits and notes behind it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memory_bank.base.hit_view import Place
from memory_bank.base.rendering import same_words
from memory_bank.base.screen import FOUND, NOTHING, Piece, cut
from memory_bank.base.view import Block, Part, View
from memory_bank.code.index.codebase import Codebase
from memory_bank.code.views import (
    calls_table,
    coupled_table,
    notes_table,
    tests_table,
    view_definition,
)
from memory_bank.memory.records import Behind, Why

_INDENT = "   "

_DAY = 10
"""Characters of the date in a timestamp."""

_MOST_REASON = 400
"""Most characters of the reason of a commit or note."""

_MOST_TOKENS = 450
"""Most estimated tokens for agents: dense code has twice as many."""


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
