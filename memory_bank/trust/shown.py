"""Show where notes come from, and which are stale, on a terminal."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import Annotated

from memory_bank.base.operation import FailOn, Param
from memory_bank.base.rendering import count
from memory_bank.base.screen import FINDINGS, FOUND, NOTHING, Call, Piece
from memory_bank.notes.compare.note_change import START
from memory_bank.notes.names import name_of
from memory_bank.trust.records import LineOrigin, NoteBlame, NoteLog
from memory_bank.trust.stale_report import TOUCHED, Citation, StaleReport

_COLUMNS = ("commit", "date", "trust", "author", "agent", "request")


_COMMIT = 10
"""Digits of an abbreviated commit."""

_MOST_COMMITS = 5
"""Number of commits of a citation that are listed."""


_TITLES = {
    "gone": "gone",
    "changed symbol": "changed symbols",
    "moved": "moved or renamed: write the new target",
    "changed file": "changed files",
    "touched": "changed, though not in what the note names",
    "other": "not stale",
}


_STYLES = {"gone": "bad", "changed": "warn", "moved": "warn", "renamed": "warn"}


def origins(call: Call, answer: NoteLog | NoteBlame) -> int:
    """Show the commits of a note, or where its sections and lines come from."""
    if isinstance(answer, NoteLog):
        return log(call, answer)
    blame(call, answer)
    return FOUND


def log(call: Call, found_log: NoteLog) -> int:
    """Show a line for each commit of a note."""
    call.answer(found_log, lambda found_log: _log(call, found_log))
    for limit in () if call.json else found_log.limits:
        call.warn(limit)
    return FOUND if found_log.commits or found_log.uncommitted else NOTHING


def _log(call: Call, found_log: NoteLog) -> None:
    call.console.line((call.place(found_log.path), "place"), f"  trust: {found_log.trust}")
    if found_log.uncommitted:
        by = f" by {found_log.uncommitted_agent}" if found_log.uncommitted_agent else ""
        call.console.line(f"changes{by} that are not committed")
    rows = []
    for commit in found_log.commits:
        change = f"renamed from {commit.old_path}" if commit.old_path else commit.change
        if change == "changed" and call.console.terminal:
            change = ""
        where = (
            ()
            if call.console.terminal
            else (", ".join(name or START for name in commit.sections or ()),)
        )
        rows.append((*_cells(commit.source), change, commit.source.subject, *where))
    if rows:
        call.console.table(
            (*_COLUMNS, "change", "subject", "sections")[: len(rows[0])], rows, "subject"
        )


def blame(call: Call, found_blame: NoteBlame) -> None:
    """Show where each section or line of a note comes from."""
    call.answer(found_blame, lambda found_blame: _blame(call, found_blame))
    for limit in () if call.json else found_blame.limits:
        call.warn(limit)


def _blame(call: Call, found_blame: NoteBlame) -> None:
    call.console.line((call.place(found_blame.path), "place"), f"  trust: {found_blame.trust}")
    if found_blame.lines is None:
        rows = [
            (*_cells(section.source), f"{section.line}", section.heading or START)
            for section in found_blame.sections
        ]
        call.console.table((*_COLUMNS, "line", "section"), rows, "section")
    else:
        rows = [
            (*_cells(blamed_line.source), f"{blamed_line.line}", blamed_line.text)
            for blamed_line in found_blame.lines
        ]
        call.console.table((*_COLUMNS, "line", "text"), rows, "text")


def _cells(source: LineOrigin) -> tuple[str, ...]:
    """Return the cells of the columns."""
    request = f"#{source.pull_request}" if source.pull_request else ""
    return (
        source.commit[:_COMMIT], source.date[:_COMMIT], source.trust, source.author or "-",
        source.agent or "-", request or "-",
    )  # fmt: skip


def stale(
    call: Call,
    report: StaleReport,
    *,
    touched: Annotated[bool, Param("List cited files and symbols that changed elsewhere")] = False,
    fail_on: FailOn = None,
) -> int:
    """Show the stale citations by what happened to the code."""
    elsewhere = (
        tuple(citation for citation in report.citations if citation.state == TOUCHED)
        if touched
        else ()
    )
    stale_report = report._replace(citations=report.listed + elsewhere)
    call.answer(
        stale_report, lambda stale_report: _stale(call, stale_report, len(report.citations))
    )
    if report.elsewhere and not touched and not call.json:
        call.console.line((f"{report.elsewhere}: --touched lists them", "dim"))
    call.notices(report.notices)
    is_any = report.stale or report.overdue
    return FINDINGS if is_any and fail_on in {"warning", "info"} else FOUND


def _stale(call: Call, report: StaleReport, checked: int) -> None:
    console, stale, groups = call.console, len(report.stale), report.by_group
    if stale:
        notes = count(len({citation.path for citation in report.stale}), "note")
        text = f"{stale} of {count(checked, 'citation')} in {notes}: confirm, edit or archive"
        console.line((text, "bold"))
    else:
        current_text = "no cited code changed" if report.overdue else "nothing is stale"
        console.line((current_text, "good"), f": {count(checked, 'citation')} of code")
    for group, citations in groups.items():
        console.line()
        console.line((f"{_TITLES[group]}: {len(citations)}", "bold"))
        for citation in citations:
            for line in citation_lines(citation, call.place(citation.path, citation.line)):
                console.line(*line)
    if report.overdue:
        console.line()
        console.line((f"past the review date: {len(report.overdue)}", "bold"))
        for note in report.overdue:
            reason = note.reason.partition(": ")[2]
            console.line((call.place(note.path, 1), "place"), f"  {reason}")
    if stale:
        call.remark(f"next: memory-bank edit {shlex.quote(name_of(report.stale[0].path))}")


def citation_lines(citation: Citation, place: str) -> Iterator[Sequence[Piece]]:
    """Yield the lines on a citation: its state, what changed, and what to write."""
    since = (
        f" since {citation.since[:12]} {citation.since_date[:10]}".rstrip()
        if citation.commits
        else ""
    )
    state = (citation.state, _STYLES.get(citation.state, "dim"))
    yield [(place, "place"), f"  {citation.target} ", state, since]
    if citation.names:
        yield ["    ", f"of what the note names: {', '.join(citation.names)}"]
    for commit in citation.commits[:_MOST_COMMITS]:
        ids = (commit.id[:12], commit.date[:10], commit.author and f"{commit.author}:")
        yield ["    ", " ".join([*filter(None, ids), commit.subject])]
    if len(citation.commits) > _MOST_COMMITS:
        yield [f"    and {count(len(citation.commits) - _MOST_COMMITS, 'commit')} more"]
    if citation.fix:
        yield ["    write ", (citation.fix, "good")]
    if citation.remark:
        yield ["    ", (citation.remark, "dim")]
