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


def context(call: Call, told: Injected, bank: Bank) -> None:
    """Show what an agent is told."""
    call.answer(told, lambda told: call.console.block(told.context))
    call.warn(bank.problem)


def listed(call: Call, answer: SessionRows) -> int:
    """Show a line for each session."""
    call.answer(answer, lambda answer: _rows(call, answer))
    return FOUND if answer.sessions else NOTHING


def session(call: Call, answer: SessionShown) -> int:
    """Show a session with its prompts, summary and observations."""
    call.answer(answer, lambda answer: _session(call, answer))
    return FOUND


def started(call: Call, done: Started) -> None:
    """Say whether a session is new."""
    said = f"{done.state}: session {done.session_id} of {done.project}"
    call.answer(done, lambda _: call.console.line(said))


def ended(call: Call, done: Ended) -> None:
    """Say that a session ended."""
    summary = f"with the summary {done.summary_id}" if done.summary_id else ""
    said = f"ended, {summary}" if summary else "ended; nothing happened in it"
    call.answer(done, lambda _: call.console.line(said))


def compressed(call: Call, done: Compression) -> int:
    """Say how many observations were made, and what failed."""
    call.answer(done, lambda done: _compressed(call, done))
    return FAILED if done.problems else FOUND


def _compressed(call: Call, done: Compression) -> None:
    if done.busy:
        call.remark("another process compresses now")
    else:
        made = count(len(done.observations), "observation")
        call.console.line(f"{made} of {count(done.events, 'event')}")
    for reason in done.fallback_reasons:
        if ": " in reason:  # the notice has only what comes before
            call.warn(one_line(reason))
    for problem in done.problems:
        call.warn(problem)


def pruned(call: Call, done: Pruned) -> int:
    """Show the notes that were moved to the trash."""
    call.answer(done, lambda done: _pruned(call, done))
    return FOUND if done.count else NOTHING


def _pruned(call: Call, done: Pruned) -> None:
    for path in done.paths:
        call.console.line(path)
    verb = "moved" if done.done else "would be moved"
    call.remark(f"{count(done.count, 'session')} {verb} to the trash")
    if done.kept:
        call.remark(f"kept in the project's own folder: {count(done.kept, 'old session')}")


def recovered(call: Call, done: Recovered) -> int:
    """Say how many notes of former sessions are here now."""
    call.answer(done, lambda done: _recovered(call, done))
    return FOUND if done.ids else NOTHING


def _recovered(call: Call, done: Recovered) -> None:
    call.remark(f"{count(done.notes, 'note')} of former sessions moved here")
    for path in done.kept:
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
        title, left = row.title, console.columns - used
        if console.terminal:
            title = cut(title, max(left, _SHORTEST))
            where = where if cells(title) + cells(where) <= left else ""
        console.line(
            mark, (row.id, "place"), " " * max(wide - width, 0), _GAP, about, _GAP, (when, "dim"),
            _GAP, (read, "dim"), _GAP, title, (where, "tag"),
        )  # fmt: skip


def _details(call: Call, found: Sequence[Details]) -> None:
    """Print each observation, session or note whole."""
    console = call.console
    for number, one in enumerate(found):
        if number:
            console.line()
        console.line((one.id, "place"), _GAP, one.title)
        kind = one.obs_type or one.type
        work = f"{one.discovery_tokens:,} tokens of work" if one.discovery_tokens else ""
        git = f"{one.git.branch} {one.git.commit[:12]}".strip() if one.git else ""
        about = (kind, one.created_at, one.project, call.place(one.path), work, git)
        console.line((" · ".join(filter(None, about)), "tag"))
        for name, value in _fields(one):
            console.labelled(f"{name}: ", "dim", value)
        for text in filter(None, (one.narrative, one.content)):
            console.line()
            console.block(text)
        if one.observations:
            console.line()
            _index(call, one.observations)


def _fields(one: Details) -> Iterator[tuple[str, str]]:
    """Yield the fields that say something, with their names."""
    listed = (("concepts", one.concepts), ("read", one.files_read), ("changed", one.files_modified))
    if one.subtitle:
        yield "about", one.subtitle
    for name, values in listed:
        if values:
            yield name, ", ".join(values)
    for fact in one.facts or ():
        yield "fact", fact
    for key in SUMMARY_TEXTS if one.summary else ():
        if value := getattr(one.summary, key):
            yield key.replace("_", " "), value
    for prompt in one.prompts or ():
        yield f"prompt {prompt.prompt_number}", prompt.prompt_text


def _kind(row: IndexRow) -> str:
    return row.obs_type or row.type


def _rows(call: Call, found: SessionRows) -> None:
    """Print a line for each session."""
    if not found.sessions:
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
            for row in found.sessions
        ],
    )
    if found.total > found.count:
        call.remark(f"{count(found.total, 'session')} in all: see --limit")


def _session(call: Call, shown: SessionShown) -> None:
    """Print a session with its prompts, summary and observations."""
    one = shown.session
    line = call.console.line
    line((one_line(shown.title), "bold"))
    where = (one.git.branch or one.git.commit[:_ID]) if one.git else ""
    git = f", branch {where}" if where and one.git and one.git.branch else where and f", at {where}"
    ended = f" to {one.ended_at:%Y-%m-%d %H:%M}" if one.ended_at else ", still open"
    agent = f" by {one.agent}" if one.agent else ""
    when = f"{one.started_at:%Y-%m-%d %H:%M}{ended}"
    line(one_line(f"session {one.session_id} of {one.project}{agent}, {when}{git}"))
    if one.path:
        line((call.place(one.path), "place"))
    for path in shown.notes:
        line(("note: ", "dim"), (call.place(path), "place"))
    if shown.pending:
        line(f"{count(shown.pending, 'event')} wait to be compressed")
    for prompt in one.prompts:
        said = " ".join(prompt.prompt_text.split())
        call.console.labelled(f"prompt {prompt.prompt_number}: ", "dim", said)
    if one.summary is not None:
        line("")
        _summary(call, one.summary)
    for found in one.observations:
        _observation_lines(call, found)


def _observation_lines(call: Call, found: Observation) -> None:
    line = call.console.line
    line("")
    line((found.obs_type, "dim"), f" {one_line(found.title)} ", (found.id, "dim"))
    for text in filter(None, (found.subtitle, *found.facts, found.narrative)):
        call.console.block(text)
    for name, files in (("read", found.files_read), ("modified", found.files_modified)):
        if files:
            line((f"{name}: ", "dim"), one_line(", ".join(files)))


def _summary(call: Call, found: Summary) -> None:
    """Print the parts of a summary that say something."""
    for part in SUMMARY_TEXTS:
        if text := getattr(found, part):
            label = f"{part.replace('_', ' ')}: "
            if "\n" in text.strip():
                call.console.line((label.strip(), "dim"))
                call.console.block(text.strip(), "  ")
            else:
                call.console.labelled(label, "dim", text.strip())
