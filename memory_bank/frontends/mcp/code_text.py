"""Compact text of answers about code, for agents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory_bank.base.rendering import count
from memory_bank.base.text import Quotes, one_line
from memory_bank.code.explain_symbol import ExplainedSymbol
from memory_bank.memory.ask_results import Answer, NoteResult, Result, file_of, line_of

if TYPE_CHECKING:
    from memory_bank.code.blast_radius import BlastRadius


_MOST_TITLE = 100


def answer(found: Answer, quotes: Quotes) -> str:
    """Show each result: its kind, score, place and title, and below a line of it."""
    how = f" (fallback_reason: {found.fallback_reason})" if found.fallback_reason else ""
    remarks = []
    if found.problem:
        remarks = [f"Incomplete: {quotes.inside(one_line(found.problem))}{how}"]
    elif how:
        some = "By" if found.mode_used == "lexical" else "Some kinds by"
        remarks = [f"{some} words only{how}"]
    if not found.results:
        return "\n".join(["Nothing found. Try other or fewer words, or other kinds.", *remarks])
    head = (
        f"{count(found.result_count, 'result')}: kind | score | place | title, then a line of it."
    )
    rows = quotes.quote("\n".join(map(_row, found.results)))
    return "\n".join([f"{head} {quotes.notice}", rows, *remarks])


def _row(one: Result) -> str:
    line = line_of(one)
    place = one_line(f"{file_of(one)}:{line}" if line else file_of(one))
    title = one_line(one.title or "")[:_MOST_TITLE]
    named = f" | {title}" if title and title != place else ""
    return f"{one.kind} | {one.relevance_score:.2f} | {place}{named}\n  {one_line(one.snippet)}"


def then(found: Answer | ExplainedSymbol | BlastRadius) -> str:
    """Return what to do after an answer about code."""
    if isinstance(found, Answer):
        notes = any(isinstance(one, NoteResult) for one in found.results)
        if not notes and found.results:
            return "Read the files at these lines."
    elif isinstance(found, ExplainedSymbol):
        notes = bool(found.notes or found.file_notes)
    else:
        notes = bool(found.notes or any(one.notes for one in found.symbols))
    return "`read_memory` shows a note whole." if notes else ""
