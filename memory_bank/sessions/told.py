"""Compact text of answers about sessions, for agents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from memory_bank.base.rendering import count
from memory_bank.base.text import Quotes, one_line
from memory_bank.sessions.answers import (
    Details,
    Ended,
    IndexRow,
    Injected,
    ObservationRows,
    Observations,
    Started,
    StoredObservation,
    Timeline,
    Workflow,
)
from memory_bank.sessions.records import SUMMARY_TEXTS

_TITLE = 60
"""Most characters of a title in a row."""

_MINUTE = len("2026-11-22T10:20")

_COMMIT = 12
"""Digits of an abbreviated commit."""


def workflow(answer: Workflow, _: Quotes) -> str:
    """Show the steps."""
    return answer.steps


def index(answer: ObservationRows, quotes: Quotes) -> str:
    """Show a row for each result."""
    remarks = quotes.remarks(answer.notices, answer.problem)
    if not answer.results:
        return "\n".join(["Nothing found. Try other or fewer words or filters.", *remarks])
    head = f"{count(answer.count, 'result')}: ID | type | time | tokens to read | title."
    projects = {row.project for row in answer.results}
    rows = quotes.quote(_rows(answer.results, projects), _of_project(projects))
    return quotes.answer(head, rows, *remarks, answer.hint)


def timeline(answer: Timeline, quotes: Quotes) -> str:
    """Show the rows in the order of time."""
    every = [*reversed(answer.before), answer.anchor, *answer.after]
    projects = {row.project for row in every}
    lines = [_row(row, projects) for row in every]
    at = len(answer.before)
    lines[at] = f"> {lines[at]}"
    head = "In the order of time, the anchor marked >: ID | type | time | tokens to read | title."
    rows = quotes.quote("\n".join(lines), _of_project(projects))
    return quotes.answer(head, rows, *quotes.remarks(problem=answer.problem))


def details(answer: Observations, quotes: Quotes) -> str:
    """Show each observation, session or note as a quote."""
    projects = {one.project for one in answer.observations}
    found = [quotes.quote(_body(one), _about(one, projects)) for one in answer.observations]
    unknown = ", ".join(one_line(name)[:_TITLE] for name in answer.missing)
    missing = [f"Not found: {quotes.inside(unknown)}"] if unknown else []
    head = f"{count(answer.count, 'result')}."
    return quotes.answer(head, *found, *missing, *quotes.remarks(problem=answer.problem))


def _of_project(projects: Iterable[str]) -> dict[str, object]:
    """Return the project of all rows as an attribute, if they have the same."""
    named = list(projects)
    return {"project": named[0]} if len(named) == 1 else {}


def _rows(rows: Sequence[IndexRow], projects: set[str]) -> str:
    return "\n".join(_row(row, projects) for row in rows)


def _row(row: IndexRow, projects: set[str]) -> str:
    """Return a row; with the project if not all rows have the same."""
    title = one_line(row.title)
    title = title if len(title) <= _TITLE else f"{title[: _TITLE - 1].rstrip()}…"
    where = f" | {one_line(row.project)[:_TITLE]}" if len(projects) > 1 else ""
    when = row.created_at[:_MINUTE].replace("T", " ")
    kind = row.obs_type or row.type
    return f"{one_line(row.id)} | {kind} | {when} | {row.estimated_tokens} | {title}{where}"


def _about(one: Details, projects: set[str]) -> dict[str, object]:
    observed = one.type == "observation"
    told = one.narrative or one.content or ""
    return {
        "id": one.id,
        "type": one.obs_type or one.type,
        "title": "" if told.startswith(one.title) else one.title,
        "project": one.project if len(projects) > 1 else "",
        "at": one.created_at[:_MINUTE].replace("T", " "),
        "path": "" if observed else one.path,
        "session": "" if observed else one.session_id or "",
        "concepts": ", ".join(one.concepts or ()),
        "reads": ", ".join(one.files_read or ()),
        "modifies": ", ".join(one.files_modified or ()),
        "prompt": one.prompt_number or "",
        "work_tokens": one.discovery_tokens or "",
        "branch": one.git.branch if one.git else "",
        "commit": one.git.commit[:_COMMIT] if one.git else "",
    }


def _body(one: Details) -> str:
    if one.content is not None:
        return one.content
    facts = [f"- {fact}" for fact in one.facts or ()]
    parts = [one.subtitle or "", "\n".join(facts), one.narrative or "", *_of_session(one)]
    return "\n\n".join(part for part in parts if part)


def _of_session(one: Details) -> Iterator[str]:
    """Yield the summary, the prompts and the rows of a session's observations."""
    if one.summary is not None:
        told = ((key, getattr(one.summary, key)) for key in SUMMARY_TEXTS)
        yield "\n".join(f"{key}: {value}" for key, value in told if value)
    yield "\n".join(f"prompt {p.prompt_number}: {p.prompt_text}" for p in one.prompts or ())
    yield _rows(one.observations or (), {one.project})


_HEADS = {
    "new": "Started a new session",
    "active": "The session goes on",
    "resumed": "Resumed the session",
}


def started(done: Started, quotes: Quotes) -> str:
    """Say whether a session is new, and its project."""
    about = {"session_id": done.session_id, "project": done.project, "at": done.started_at}
    head = f"{_HEADS[done.state]} (state: {done.state}, prompt_number: {done.prompt_number})."
    return quotes.answer(head, quotes.quote("", about))


def stored(done: StoredObservation, quotes: Quotes) -> str:
    """Say what was stored, and its id."""
    del quotes
    if done.observation_id is not None:
        what = f"Stored the observation (observation_id: {done.observation_id}"
    else:
        what = f"Stored the event, which is compressed later (pending_id: {done.pending_id}"
    return f"{what}, prompt_number: {done.prompt_number})."


def told(found: Injected, quotes: Quotes) -> str:
    """Return a context, which has its own quotes."""
    del quotes
    return found.context


def ended(done: Ended, quotes: Quotes) -> str:
    """Say that a session ended, and the id of its summary."""
    del quotes
    if done.summary_id is None:
        return "Ended the session (summary_id: null): nothing happened in it."
    return f"Ended the session (summary_id: {done.summary_id})."
