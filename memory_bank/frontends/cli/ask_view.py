"""Print the results of `ask`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from memory_bank.base.screen import place
from memory_bank.memory.ask_results import NoteResult, file_of, line_of

if TYPE_CHECKING:
    from memory_bank.base.screen import Call
    from memory_bank.memory.ask_results import Answer, Result


_INDENT = "   "

_WORDS = {"test_guard": "test", "coupled_file": "coupled file"}
"""Kinds as a person calls them."""


def show_results(call: Call, answer: Answer, root: Path | None) -> None:
    """Print each result: its place, kind and score, its title, and a line of it."""
    console = call.console
    for number, one in enumerate(answer.results, 1):
        if number > 1:
            console.line()
        kind = _WORDS.get(one.kind, one.kind)
        console.line(
            f"{number}  ", (_place(call, one, root), "place"), f"  {kind}  ",
            (f"{one.relevance_score:.2f}", "dim"),
            (f"  {one.created_at[:10]}" if isinstance(one, NoteResult) else "", "tag"),
        )  # fmt: skip
        if one.title and one.title != file_of(one):
            console.line(_INDENT, (one.title, "bold"))
        for line in console.folded(" ".join(one.snippet.split()), len(_INDENT)):
            console.line(_INDENT, line)


def _place(call: Call, one: Result, root: Path | None) -> str:
    """Return where a result is, as seen from the working directory."""
    if isinstance(one, NoteResult) or root is None:
        return call.place(file_of(one), line_of(one))
    return place(root / file_of(one), line_of(one) or None)
