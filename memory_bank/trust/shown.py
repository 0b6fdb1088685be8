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


def origins(call: Call, found: NoteLog | NoteBlame) -> int:
    """Show the commits of a note, or where its sections and lines come from."""
    if isinstance(found, NoteLog):
        return log(call, found)
    blame(call, found)
    return FOUND


def log(call: Call, found: NoteLog) -> int:
    """Show a line for each commit of a note."""
    call.answer(found, lambda found: _log(call, found))
    for one in () if call.json else found.limits:
        call.warn(one)
    return FOUND if found.commits or found.uncommitted else NOTHING


def _log(call: Call, found: NoteLog) -> None:
    call.console.line((call.place(found.path), "place"), f"  trust: {found.trust}")
    if found.uncommitted:
        by = f" by {found.uncommitted_agent}" if found.uncommitted_agent else ""
        call.console.line(f"changes{by} that are not committed")
    rows = []
    for one in found.commits:
        change = f"renamed from {one.old_path}" if one.old_path else one.change
        if change == "changed" and call.console.terminal:
            change = ""
        where = (
            ()
            if call.console.terminal
            else (", ".join(name or START for name in one.sections or ()),)
        )
        rows.append((*_cells(one.source), change, one.source.subject, *where))
    if rows:
        call.console.table(
            (*_COLUMNS, "change", "subject", "sections")[: len(rows[0])], rows, "subject"
        )


def blame(call: Call, found: NoteBlame) -> None:
    """Show where each section or line of a note comes from."""
    call.answer(found, lambda found: _blame(call, found))
    for one in () if call.json else found.limits:
        call.warn(one)


def _blame(call: Call, found: NoteBlame) -> None:
    call.console.line((call.place(found.path), "place"), f"  trust: {found.trust}")
    if found.lines is None:
        rows = [
            (*_cells(one.source), f"{one.line}", one.heading or START) for one in found.sections
        ]
        call.console.table((*_COLUMNS, "line", "section"), rows, "section")
    else:
        rows = [(*_cells(one.source), f"{one.line}", one.text) for one in found.lines]
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
    elsewhere = tuple(one for one in report.citations if one.state == TOUCHED) if touched else ()
    shown = report._replace(citations=report.listed + elsewhere)
    call.answer(shown, lambda shown: _stale(call, shown, len(report.citations)))
    if report.elsewhere and not touched and not call.json:
        call.console.line((f"{report.elsewhere}: --touched lists them", "dim"))
    call.notices(report.notices)
    is_any = report.stale or report.overdue
    return FINDINGS if is_any and fail_on in {"warning", "info"} else FOUND


def _stale(call: Call, report: StaleReport, checked: int) -> None:
    console, stale, groups = call.console, len(report.stale), report.by_group
    if stale:
        notes = count(len({one.path for one in report.stale}), "note")
        said = f"{stale} of {count(checked, 'citation')} in {notes}: confirm, edit or archive"
        console.line((said, "bold"))
    else:
        what = "no cited code changed" if report.overdue else "nothing is stale"
        console.line((what, "good"), f": {count(checked, 'citation')} of code")
    for group, citations in groups.items():
        console.line()
        console.line((f"{_TITLES[group]}: {len(citations)}", "bold"))
        for one in citations:
            for line in citation_lines(one, call.place(one.path, one.line)):
                console.line(*line)
    if report.overdue:
        console.line()
        console.line((f"past the review date: {len(report.overdue)}", "bold"))
        for note in report.overdue:
            reason = note.reason.partition(": ")[2]
            console.line((call.place(note.path, 1), "place"), f"  {reason}")
    if stale:
        call.remark(f"next: memory-bank edit {shlex.quote(name_of(report.stale[0].path))}")


def citation_lines(one: Citation, place: str) -> Iterator[Sequence[Piece]]:
    """Yield the lines on a citation: its state, what changed, and what to write."""
    since = f" since {one.since[:12]} {one.since_date[:10]}".rstrip() if one.commits else ""
    state = (one.state, _STYLES.get(one.state, "dim"))
    yield [(place, "place"), f"  {one.target} ", state, since]
    if one.names:
        yield ["    ", f"of what the note names: {', '.join(one.names)}"]
    for commit in one.commits[:_MOST_COMMITS]:
        said = (commit.id[:12], commit.date[:10], commit.author and f"{commit.author}:")
        yield ["    ", " ".join([*filter(None, said), commit.subject])]
    if len(one.commits) > _MOST_COMMITS:
        yield [f"    and {count(len(one.commits) - _MOST_COMMITS, 'commit')} more"]
    if one.fix:
        yield ["    write ", (one.fix, "good")]
    if one.remark:
        yield ["    ", (one.remark, "dim")]
