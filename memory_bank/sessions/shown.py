"""Show what sessions did on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memory_bank.bank.bank import Bank
from memory_bank.base.rendering import count, one_line
from memory_bank.base.screen import FAILED, FOUND, NOTHING, Call, cells, cut
from memory_bank.sessions.answers import (
    Compression,
    Details,
    Ended,
    IndexRow,
    Injected,
    ObservationRows,
    Observations,
    Pruned,
    Recovered,
    SessionRows,
    SessionShown,
    Started,
    Timeline,
)
from memory_bank.sessions.records import SUMMARY_TEXTS, Observation, Summary

_GAP = "  "


_MINUTE = len("2026-11-22T10:20")


_SHORTEST = 16
"""Columns of the shortest cut title; with less room the line is wrapped instead."""


_WIDEST_ID = 24
"""Columns of a longer id, whose line is wrapped, are not kept free in other lines."""
_ID = 12


def found(call: Call, answer: ObservationRows) -> int:
    """Show a line for each observation, session or note that was found."""
    call.answer(answer, lambda answer: _index(call, answer.results))
    call.warn(answer.problem)
    call.notices(answer.notices)
    if not answer.results and not call.json:
        call.remark("nothing found")
    return FOUND if answer.results else NOTHING


def timeline(call: Call, answer: Timeline) -> None:
    """Show the lines before and after an anchor, and its own, in the order of time."""
    rows = (*reversed(answer.before), answer.anchor, *answer.after)
    call.answer(answer, lambda answer: _index(call, rows, marked=answer.anchor_id))
    call.warn(answer.problem)


def details(call: Call, answer: Observations) -> int:
    """Show observations, sessions and notes whole, and name those that are missing."""
    call.answer(answer, lambda answer: _details(call, answer.observations))
    call.warn(answer.problem)
    if answer.missing and not call.json:
        call.remark(f"not found: {', '.join(answer.missing)}")
    return FOUND if answer.observations else NOTHING


def known(call: Call, answer: Observations | SessionShown) -> int:
    """Show one session, or observations, sessions and notes whole."""
    if isinstance(answer, SessionShown):
        return session(call, answer)
    return details(call, answer)


def context(call: Call, injected: Injected, bank: Bank) -> None:
    """Show what an agent is told."""
    call.answer(injected, lambda injected: call.console.block(injected.context))
    call.warn(bank.problem)


def listed(call: Call, answer: SessionRows) -> int:
    """Show a line for each session."""
    call.answer(answer, lambda answer: _rows(call, answer))
    return FOUND if answer.sessions else NOTHING


def session(call: Call, answer: SessionShown) -> int:
    """Show a session with its prompts, summary and observations."""
    call.answer(answer, lambda answer: _session(call, answer))
    return FOUND


def started(call: Call, done_started: Started) -> None:
    """Say whether a session is new."""
    text = f"{done_started.state}: session {done_started.session_id} of {done_started.project}"
    call.answer(done_started, lambda _: call.console.line(text))


def ended(call: Call, done_ended: Ended) -> None:
    """Say that a session ended."""
    summary = f"with the summary {done_ended.summary_id}" if done_ended.summary_id else ""
    text = f"ended, {summary}" if summary else "ended; nothing happened in it"
    call.answer(done_ended, lambda _: call.console.line(text))


def compressed(call: Call, compression: Compression) -> int:
    """Say how many observations were made, and what failed."""
    call.answer(compression, lambda compression: _compressed(call, compression))
    return FAILED if compression.problems else FOUND


def _compressed(call: Call, compression: Compression) -> None:
    if compression.busy:
        call.remark("another process compresses now")
    else:
        text = count(len(compression.observations), "observation")
        call.console.line(f"{text} of {count(compression.events, 'event')}")
    for reason in compression.fallback_reasons:
        if ": " in reason:  # the notice has only what comes before
            call.warn(one_line(reason))
    for problem in compression.problems:
        call.warn(problem)


def pruned(call: Call, done_pruned: Pruned) -> int:
    """Show the notes that were moved to the trash."""
    call.answer(done_pruned, lambda done_pruned: _pruned(call, done_pruned))
    return FOUND if done_pruned.count else NOTHING


def _pruned(call: Call, done_pruned: Pruned) -> None:
    for path in done_pruned.paths:
        call.console.line(path)
    verb = "moved" if done_pruned.done else "would be moved"
    call.remark(f"{count(done_pruned.count, 'session')} {verb} to the trash")
    if done_pruned.kept:
        call.remark(f"kept in the project's own folder: {count(done_pruned.kept, 'old session')}")


def recovered(call: Call, done_recovered: Recovered) -> int:
    """Say how many notes of former sessions are here now."""
    call.answer(done_recovered, lambda done_recovered: _recovered(call, done_recovered))
    return FOUND if done_recovered.ids else NOTHING


def _recovered(call: Call, done_recovered: Recovered) -> None:
    call.remark(f"{count(done_recovered.notes, 'note')} of former sessions moved here")
    for path in done_recovered.kept:
        call.remark(f"stays, since there is a note of this path: {path}")


def _index(call: Call, rows: Sequence[IndexRow], *, marked: str = "") -> None:
    """Print a line for each row; titles are cut on a narrow terminal, but never ids.

    The row with the id `marked` starts with `>`.
    """
    console = call.console
    ids = [cells(row.id) for row in rows]
    wide = max((width for width in ids if width <= _WIDEST_ID), default=0)
    kinds = max((len(_kind(row)) for row in rows), default=0)
    tokens = max((len(str(row.estimated_tokens)) for row in rows), default=0)
    projects = {row.project for row in rows}
    for row, width in zip(rows, ids, strict=True):
        mark = ("> " if row.id == marked else "  ") if marked else ""
        when = row.created_at[:_MINUTE].replace("T", " ")
        about = f"{_kind(row):<{kinds}}"
        read = f"{row.estimated_tokens:>{tokens}}"
        where = f"{_GAP}{row.project}" if len(projects) > 1 else ""
        used = len(mark) + max(width, wide) + len(about) + len(when) + len(read) + 4 * len(_GAP)
        title, columns = row.title, console.columns - used
        if console.terminal:
            title = cut(title, max(columns, _SHORTEST))
            where = where if cells(title) + cells(where) <= columns else ""
        console.line(
            mark, (row.id, "place"), " " * max(wide - width, 0), _GAP, about, _GAP, (when, "dim"),
            _GAP, (read, "dim"), _GAP, title, (where, "tag"),
        )  # fmt: skip


def _details(call: Call, found_details: Sequence[Details]) -> None:
    """Print each observation, session or note whole."""
    console = call.console
    for number, current_details in enumerate(found_details):
        if number:
            console.line()
        console.line((current_details.id, "place"), _GAP, current_details.title)
        kind = current_details.obs_type or current_details.type
        work = (
            f"{current_details.discovery_tokens:,} tokens of work"
            if current_details.discovery_tokens
            else ""
        )
        git = (
            f"{current_details.git.branch} {current_details.git.commit[:12]}".strip()
            if current_details.git
            else ""
        )
        about = (
            kind,
            current_details.created_at,
            current_details.project,
            call.place(current_details.path),
            work,
            git,
        )
        console.line((" · ".join(filter(None, about)), "tag"))
        for name, value in _fields(current_details):
            console.labelled(f"{name}: ", "dim", value)
        for text in filter(None, (current_details.narrative, current_details.content)):
            console.line()
            console.block(text)
        if current_details.observations:
            console.line()
            _index(call, current_details.observations)


def _fields(current_details: Details) -> Iterator[tuple[str, str]]:
    """Yield the fields that say something, with their names."""
    listed = (
        ("concepts", current_details.concepts),
        ("read", current_details.files_read),
        ("changed", current_details.files_modified),
    )
    if current_details.subtitle:
        yield "about", current_details.subtitle
    for name, values in listed:
        if values:
            yield name, ", ".join(values)
    for fact in current_details.facts or ():
        yield "fact", fact
    for key in SUMMARY_TEXTS if current_details.summary else ():
        if value := getattr(current_details.summary, key):
            yield key.replace("_", " "), value
    for prompt in current_details.prompts or ():
        yield f"prompt {prompt.prompt_number}", prompt.prompt_text


def _kind(row: IndexRow) -> str:
    return row.obs_type or row.type


def _rows(call: Call, rows: SessionRows) -> None:
    """Print a line for each session."""
    if not rows.sessions:
        call.remark("no session yet: see `memory-bank hooks -h`, or `memory-bank session start -h`")
        return
    call.console.table(
        ("session", "started", "project", "agent", "prompts", "observations", "waiting", "title"),
        [
            (
                one_line(row.session_id[:_ID]),
                row.started_at[:_MINUTE].replace("T", " "),
                one_line(row.project),
                one_line(row.agent),
                *(
                    str(number) if number or not call.console.terminal else ""
                    for number in (row.prompts, row.observations, row.pending)
                ),
                one_line(row.title),
            )
            for row in rows.sessions
        ],
    )
    if rows.total > rows.count:
        call.remark(f"{count(rows.total, 'session')} in all: see --limit")


def _session(call: Call, entry: SessionShown) -> None:
    """Print a session with its prompts, summary and observations."""
    current_session = entry.session
    line = call.console.line
    line((one_line(entry.title), "bold"))
    where = (
        (current_session.git.branch or current_session.git.commit[:_ID])
        if current_session.git
        else ""
    )
    git = (
        f", branch {where}"
        if where and current_session.git and current_session.git.branch
        else where and f", at {where}"
    )
    ended = (
        f" to {current_session.ended_at:%Y-%m-%d %H:%M}"
        if current_session.ended_at
        else ", still open"
    )
    agent = f" by {current_session.agent}" if current_session.agent else ""
    when = f"{current_session.started_at:%Y-%m-%d %H:%M}{ended}"
    line(
        one_line(
            f"session {current_session.session_id} of {current_session.project}{agent}, {when}{git}"
        )
    )
    if current_session.path:
        line((call.place(current_session.path), "place"))
    for path in entry.notes:
        line(("note: ", "dim"), (call.place(path), "place"))
    if entry.pending:
        line(f"{count(entry.pending, 'event')} wait to be compressed")
    for prompt in current_session.prompts:
        text = " ".join(prompt.prompt_text.split())
        call.console.labelled(f"prompt {prompt.prompt_number}: ", "dim", text)
    if current_session.summary is not None:
        line("")
        _summary(call, current_session.summary)
    for observation in current_session.observations:
        _observation_lines(call, observation)


def _observation_lines(call: Call, observation: Observation) -> None:
    line = call.console.line
    line("")
    line((observation.obs_type, "dim"), f" {one_line(observation.title)} ", (observation.id, "dim"))
    for text in filter(None, (observation.subtitle, *observation.facts, observation.narrative)):
        call.console.block(text)
    for name, files in (("read", observation.files_read), ("modified", observation.files_modified)):
        if files:
            line((f"{name}: ", "dim"), one_line(", ".join(files)))


def _summary(call: Call, summary: Summary) -> None:
    """Print the parts of a summary that say something."""
    for part in SUMMARY_TEXTS:
        if text := getattr(summary, part):
            label = f"{part.replace('_', ' ')}: "
            if "\n" in text.strip():
                call.console.line((label.strip(), "dim"))
                call.console.block(text.strip(), "  ")
            else:
                call.console.labelled(label, "dim", text.strip())
