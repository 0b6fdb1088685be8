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


def log(found_log: NoteLog, quotes: Quotes) -> str:
    """Show a row for each commit."""
    rows = [
        f"{_source(commit.source)} | {commit.change} | {_names(commit.sections or ())}"
        f" | {commit.source.subject}"
        for commit in found_log.commits
    ]
    if found_log.uncommitted:
        by = f" by {found_log.uncommitted_agent}" if found_log.uncommitted_agent else ""
        rows.insert(0, f"changes{by} that are not committed")
    head = f"{count(found_log.result_count, 'commit')}, the newest first; trust: {found_log.trust}."
    return _answer(quotes, head, found_log.path, rows, found_log.limits)


def blame(found_blame: NoteBlame, quotes: Quotes) -> str:
    """Show a row for each section, or for each line."""
    if found_blame.lines is not None:
        rows = [
            f"{blamed_line.line}: {_source(blamed_line.source)} | {blamed_line.text}"
            for blamed_line in found_blame.lines
        ]
    else:
        rows = [
            f"{section.line}: {_source(section.source)} | {section.heading or START}"
            for section in found_blame.sections
        ]
    return _answer(
        quotes, f"Trust: {found_blame.trust}.", found_blame.path, rows, found_blame.limits
    )


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


def stale(stale_report: StaleReport, quotes: Quotes) -> str:
    """Show a line for each stale citation, with its commits and the target to write."""
    stale, moved = len(stale_report.stale), len(stale_report.citations) - len(stale_report.stale)
    head = f"{count(stale, 'citation')} of code stale." + (f" {moved} moved." if moved else "")
    notices = quotes.remarks(stale_report.notices)
    if stale_report.overdue:
        head += f" {count(len(stale_report.overdue), 'note')} past the review date."
    if not stale_report.citations and not stale_report.overdue:
        return "\n".join([head, *notices])
    ordered = [citation for citations in stale_report.by_group.values() for citation in citations]
    lines = [
        plain(line)
        for citation in ordered[:_STALE]
        for line in citation_lines(citation, f"{citation.path}:{citation.line}")
    ]
    lines += [f"{note.path} {note.reason}" for note in stale_report.overdue[:_STALE]]
    if len(stale_report.citations) > _STALE:
        lines.append(f"and {len(stale_report.citations) - _STALE} more")
    advice = "Confirm, edit or archive each note."
    return quotes.answer(f"{head} {advice}", quotes.quote("\n".join(lines)), *notices)
