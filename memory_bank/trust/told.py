"""Compact text of where notes come from and what is stale, for agents; all of it is quoted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memory_bank.base.rendering import count
from memory_bank.base.screen import plain
from memory_bank.base.text import Quotes, one_line
from memory_bank.notes.compare.note_change import START
from memory_bank.trust.records import LineOrigin, NoteBlame, NoteLog
from memory_bank.trust.shown import citation_lines
from memory_bank.trust.stale_report import StaleReport

_COMMIT = 10

_DAY = 10

_STALE = 50
"""Number of citations that are shown."""

_MOST = 500
"""Most rows of an answer."""


def log(found: NoteLog, quotes: Quotes) -> str:
    """Show a row for each commit."""
    rows = [
        f"{_source(one.source)} | {one.change} | {_names(one.sections or ())}"
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
        rows = [
            f"{one.line}: {_source(one.source)} | {one.heading or START}" for one in found.sections
        ]
    return _answer(quotes, f"Trust: {found.trust}.", found.path, rows, found.limits)


def _names(sections: Iterable[str]) -> str:
    return ", ".join(name or START for name in sections)


def _source(source: LineOrigin) -> str:
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
    return quotes.answer(head, quotes.quote(text, {"path": path}), *quotes.remarks(limits))


def stale(found: StaleReport, quotes: Quotes) -> str:
    """Show a line for each stale citation, with its commits and the target to write."""
    stale, moved = len(found.stale), len(found.citations) - len(found.stale)
    head = f"{count(stale, 'citation')} of code stale." + (f" {moved} moved." if moved else "")
    notices = quotes.remarks(found.notices)
    if found.overdue:
        head += f" {count(len(found.overdue), 'note')} past the review date."
    if not found.citations and not found.overdue:
        return "\n".join([head, *notices])
    ordered = [one for some in found.by_group.values() for one in some]
    lines = [
        plain(line)
        for one in ordered[:_STALE]
        for line in citation_lines(one, f"{one.path}:{one.line}")
    ]
    lines += [f"{note.path} {note.reason}" for note in found.overdue[:_STALE]]
    if len(found.citations) > _STALE:
        lines.append(f"and {len(found.citations) - _STALE} more")
    advice = "Confirm, edit or archive each note."
    return quotes.answer(f"{head} {advice}", quotes.quote("\n".join(lines)), *notices)
