"""Compact text of where notes come from, for agents; all of it is quoted, since it is data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memory_bank.base.rendering import count
from memory_bank.base.text import Quotes, one_line

if TYPE_CHECKING:
    from memory_bank.trust.provenance import NoteBlame, NoteLog, TextSource


_COMMIT = 10

_DAY = 10

_MOST = 500
"""Most rows of an answer."""


def log(found: NoteLog, quotes: Quotes) -> str:
    """Show a row for each commit."""
    rows = [
        f"{_source(one.source)} | {one.change} | {', '.join(one.sections or ())}"
        f" | {one.source.subject}"
        for one in found.commits
    ]
    if found.uncommitted:
        by = f" by {found.uncommitted_agent}" if found.uncommitted_agent else ""
        rows.insert(0, f"changes{by} that are not committed")
    head = f"{count(found.result_count, 'commit')}, the newest first; trust: {found.trust}."
    return _answer(quotes, head, found.path, rows, found.limits)


def blame(found: NoteBlame, quotes: Quotes) -> str:
    """Show a row for each section, or for each line."""
    if found.lines is not None:
        rows = [f"{one.line}: {_source(one.source)} | {one.text}" for one in found.lines]
    else:
        rows = [f"{one.line}: {_source(one.source)} | {one.heading}" for one in found.sections]
    return _answer(quotes, f"Trust: {found.trust}.", found.path, rows, found.limits)


def _source(source: TextSource) -> str:
    parts = (
        source.trust,
        source.commit[:_COMMIT],
        source.date[:_DAY],
        source.author,
        f"agent {source.agent}" if source.agent else "",
        f"#{source.pull_request}" if source.pull_request else "",
    )
    return " ".join(filter(None, parts))


def _answer(
    quotes: Quotes, head: str, path: str, rows: Sequence[str], limits: Sequence[str]
) -> str:
    more = [f"and {len(rows) - _MOST} more"] if len(rows) > _MOST else []
    text = "\n".join([*map(one_line, rows[:_MOST]), *more])
    said = [f"Notice: {quotes.inside(one_line(one))}" for one in limits]
    return "\n".join([f"{head} {quotes.notice}", quotes.quote(text, {"path": path}), *said])
