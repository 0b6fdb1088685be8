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
    current_rows = [*reversed(answer.before), answer.anchor, *answer.after]
    projects = {row.project for row in current_rows}
    lines = [_row(row, projects) for row in current_rows]
    at = len(answer.before)
    lines[at] = f"> {lines[at]}"
    head = "In the order of time, the anchor marked >: ID | type | time | tokens to read | title."
    rows = quotes.quote("\n".join(lines), _of_project(projects))
    return quotes.answer(head, rows, *quotes.remarks(problem=answer.problem))


def details(answer: Observations, quotes: Quotes) -> str:
    """Show each observation, session or note as a quote."""
    projects = {current_details.project for current_details in answer.observations}
    found_quotes = [
        quotes.quote(_body(current_details), _about(current_details, projects))
        for current_details in answer.observations
    ]
    unknown = ", ".join(one_line(name)[:_TITLE] for name in answer.missing)
    missing = [f"Not found: {quotes.inside(unknown)}"] if unknown else []
    head = f"{count(answer.count, 'result')}."
    return quotes.answer(head, *found_quotes, *missing, *quotes.remarks(problem=answer.problem))


def _of_project(projects: Iterable[str]) -> dict[str, object]:
    """Return the project of all rows as an attribute, if they have the same."""
    named_projects = list(projects)
    return {"project": named_projects[0]} if len(named_projects) == 1 else {}


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


def _about(current_details: Details, projects: set[str]) -> dict[str, object]:
    observed = current_details.type == "observation"
    narrative = current_details.narrative or current_details.content or ""
    return {
        "id": current_details.id,
        "type": current_details.obs_type or current_details.type,
        "title": "" if narrative.startswith(current_details.title) else current_details.title,
        "project": current_details.project if len(projects) > 1 else "",
        "at": current_details.created_at[:_MINUTE].replace("T", " "),
        "path": "" if observed else current_details.path,
        "session": "" if observed else current_details.session_id or "",
        "concepts": ", ".join(current_details.concepts or ()),
        "reads": ", ".join(current_details.files_read or ()),
        "modifies": ", ".join(current_details.files_modified or ()),
        "prompt": current_details.prompt_number or "",
        "work_tokens": current_details.discovery_tokens or "",
        "branch": current_details.git.branch if current_details.git else "",
        "commit": current_details.git.commit[:_COMMIT] if current_details.git else "",
    }


def _body(current_details: Details) -> str:
    if current_details.content is not None:
        return current_details.content
    facts = [f"- {fact}" for fact in current_details.facts or ()]
    parts = [
        current_details.subtitle or "",
        "\n".join(facts),
        current_details.narrative or "",
        *_of_session(current_details),
    ]
    return "\n\n".join(part for part in parts if part)


def _of_session(current_details: Details) -> Iterator[str]:
    """Yield the summary, the prompts and the rows of a session's observations."""
    if current_details.summary is not None:
        keys = ((key, getattr(current_details.summary, key)) for key in SUMMARY_TEXTS)
        yield "\n".join(f"{key}: {value}" for key, value in keys if value)
    yield "\n".join(
        f"prompt {p.prompt_number}: {p.prompt_text}" for p in current_details.prompts or ()
    )
    yield _rows(current_details.observations or (), {current_details.project})


_HEADS = {
    "new": "Started a new session",
    "active": "The session goes on",
    "resumed": "Resumed the session",
}


def started(session: Started, quotes: Quotes) -> str:
    """Say whether a session is new, and its project."""
    about = {
        "session_id": session.session_id,
        "project": session.project,
        "at": session.started_at,
    }
    head = (
        f"{_HEADS[session.state]} (state: {session.state}, prompt_number: {session.prompt_number})."
    )
    return quotes.answer(head, quotes.quote("", about))


def stored(observation: StoredObservation, quotes: Quotes) -> str:
    """Say what was stored, and its id."""
    del quotes
    if observation.observation_id is not None:
        text = f"Stored the observation (observation_id: {observation.observation_id}"
    else:
        text = f"Stored the event, which is compressed later (pending_id: {observation.pending_id}"
    return f"{text}, prompt_number: {observation.prompt_number})."


def told(injected: Injected, quotes: Quotes) -> str:
    """Return a context, which has its own quotes."""
    del quotes
    return injected.context


def ended(done_ended: Ended, quotes: Quotes) -> str:
    """Say that a session ended, and the id of its summary."""
    del quotes
    if done_ended.summary_id is None:
        return "Ended the session (summary_id: null): nothing happened in it."
    return f"Ended the session (summary_id: {done_ended.summary_id})."
