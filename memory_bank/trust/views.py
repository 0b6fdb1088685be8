"""What answers about where notes come from, and about stale ones, say to people and to agents."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import Annotated

from memory_bank.base.hit_view import Place
from memory_bank.base.operation import FailOn, Param
from memory_bank.base.rendering import count
from memory_bank.base.screen import FINDINGS, FOUND, NOTHING, Call, Piece
from memory_bank.base.view import Block, Entry, Table, View
from memory_bank.notes.names import name_of
from memory_bank.notes.note_change import START
from memory_bank.trust.records import TOUCHED, Citation, LineOrigin, NoteBlame, NoteLog, StaleReport

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


def view_origins(answer: NoteLog | NoteBlame, call: Call | None = None) -> View:
    """List the commits of a note, or where its sections and lines come from."""
    if isinstance(answer, NoteLog):
        return _view_log(answer, call)
    if answer.lines is None:
        headings, gives_way = (*_COLUMNS, "line", "section"), "section"
        rows = [
            (*_list_cells(section.source), str(section.line), section.heading or START)
            for section in answer.sections
        ]
    else:
        headings, gives_way = (*_COLUMNS, "line", "text"), "text"
        rows = [(*_list_cells(line.source), str(line.line), line.text) for line in answer.lines]
    table = Table(headings, rows, "" if call is None else gives_way, {"path": answer.path})
    parts: list[Entry | Table] = [_describe_trust(answer), table]
    return View(f"Trust: {answer.trust}", parts, notices=answer.limits)


def _describe_trust(answer: NoteLog | NoteBlame) -> Entry:
    return Entry(Place(answer.path), more=[f"  trust: {answer.trust}"])


def _view_log(log: NoteLog, call: Call | None) -> View:
    terminal = call is not None and call.console.terminal
    rows = []
    for commit in log.commits:
        change = f"renamed from {commit.old_path}" if commit.old_path else commit.change
        change = "" if terminal and change == "changed" else change
        sections = ", ".join(name or START for name in commit.sections or ())
        where = () if terminal else (sections,)
        rows.append((*_list_cells(commit.source), change, commit.source.subject, *where))
    headings = (*_COLUMNS, "change", "subject", *(() if terminal else ("sections",)))
    by = f" by {log.uncommitted_agent}" if log.uncommitted_agent else ""
    parts: list[Entry | Table] = [_describe_trust(log)]
    if log.uncommitted:
        changes = f"changes{by} that are not committed"
        parts.append(Entry(changes, {"uncommitted": log.uncommitted_agent or "yes"}))
    if rows:
        gives_way = "" if call is None else "subject"
        parts.append(Table(headings, rows, gives_way, {"path": log.path}))
    return View(
        f"{count(log.result_count, 'commit')}, the newest first; trust: {log.trust}",
        parts,
        notices=log.limits,
        code=FOUND if log.commits or log.uncommitted else NOTHING,
    )


def _list_cells(source: LineOrigin) -> tuple[str, ...]:
    """Return the cells of the columns."""
    request = f"#{source.pull_request}" if source.pull_request else ""
    return (
        source.commit[:_COMMIT], source.date[:_COMMIT], source.trust, source.author or "-",
        source.agent or "-", request or "-",
    )  # fmt: skip


def view_stale(
    report: StaleReport,
    *,
    touched: Annotated[bool, Param("List cited files and symbols that changed elsewhere")] = False,
    fail_on: FailOn = None,
) -> View:
    """List the stale citations by what happened to the code."""
    elsewhere = [citation for citation in report.citations if citation.state == TOUCHED]
    listed = report._replace(citations=(*report.listed, *(elsewhere if touched else ())))
    stale, overdue = listed.stale, listed.overdue
    lines: list[Sequence[Piece | Place]] = []
    for group, citations in listed.by_group.items():
        lines += [[], [(f"{_TITLES[group]}: {len(citations)}", "bold")]]
        for citation in citations:
            lines += yield_citation_lines(citation, Place(citation.path, citation.line))
    if overdue:
        lines += [[], [(f"past the review date: {len(overdue)}", "bold")]]
        lines += [[Place(note.path, 1), f"  {note.reason.partition(': ')[2]}"] for note in overdue]
    checked = count(len(report.citations), "citation")
    head = f"{'No cited code changed' if overdue else 'Nothing is stale'}: {checked} of code"
    if stale:
        notes = count(len({citation.path for citation in stale}), "note")
        head = f"{len(stale)} of {checked} in {notes}: confirm, edit or archive"
    remarks = (
        [f"{report.elsewhere}: --touched lists them"] if report.elsewhere and not touched else []
    )
    if stale:
        remarks.append(f"next: memory-bank edit {shlex.quote(name_of(stale[0].path))}")
    fails = (stale or overdue) and fail_on in {"warning", "info"}
    return View(
        head,
        [Entry(title=f"{head[0].lower()}{head[1:]}"), Block(lines)] if lines else (),
        notices=report.notices,
        remarks=remarks,
        code=FINDINGS if fails else FOUND,
        document=listed,
    )


def yield_citation_lines(
    citation: Citation, place: Place | str
) -> Iterator[Sequence[Piece | Place]]:
    """Yield the lines on a citation: its state, what changed, and what to write."""
    since = (
        f" since {citation.since[:12]} {citation.since_date[:10]}".rstrip()
        if citation.commits
        else ""
    )
    state = (citation.state, _STYLES.get(citation.state, "dim"))
    yield [
        place if isinstance(place, Place) else (place, "place"),
        f"  {citation.target} ",
        state,
        since,
    ]
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
