"""What answers about sessions and observations say, to people and to agents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memory_bank.bank.bank import Bank
from memory_bank.base.hit_view import Place
from memory_bank.base.rendering import count
from memory_bank.base.screen import FAILED, FOUND, NOTHING
from memory_bank.base.view import Entry, Table, View
from memory_bank.sessions.answers import (
    Compression,
    Details,
    IndexRow,
    Injected,
    ObservationRows,
    Observations,
    Recovered,
    SessionRows,
    SessionShown,
    SessionStep,
    Timeline,
    Workflow,
)
from memory_bank.sessions.records import SUMMARY_TEXTS, Observation

_MINUTE = len("2026-11-22T10:20")

_DIGITS = 12
"""Digits of an abbreviated id or commit."""

_TITLE = 60
"""Most characters of a name that names nothing."""

_STATES = {
    "new": "Started a new session",
    "active": "The session goes on",
    "resumed": "Resumed the session",
}


def view_steps(answer: Workflow) -> View:
    """Describe how the tools of sessions are used together."""
    return View(text=answer.steps)


def view_rows(answer: ObservationRows) -> View:
    """Describe the rows that a search found."""
    if not answer.results:
        advice = "Try other or fewer words or filters."
        return View("Nothing found", (), advice=advice, notices=answer.notices,
                    problem=answer.problem, code=NOTHING)  # fmt: skip
    rows = _make_table(answer.results)
    return View(count(answer.count, "result"), [rows], notices=answer.notices,
                problem=answer.problem, then=answer.hint)  # fmt: skip


def view_timeline(answer: Timeline) -> View:
    """Describe what came before and after an anchor, in the order of time."""
    rows = [*reversed(answer.before), answer.anchor, *answer.after]
    head = "In the order of time, the anchor marked >"
    return View(
        head, [_make_table(rows)._replace(marked=len(answer.before))], problem=answer.problem
    )


def view_details(answer: Observations | SessionShown) -> View:
    """Describe observations, sessions and notes whole, or one session with all that is in it."""
    if isinstance(answer, SessionShown):
        return _view_session(answer)
    projects = {details.row.project for details in answer.observations}
    entries = [
        _describe_details(details, several=len(projects) > 1) for details in answer.observations
    ]
    missing = f"not found: {', '.join(name[:_TITLE] for name in answer.missing)}"
    return View(
        count(answer.count, "result") if entries else "",
        entries,
        notices=[missing] if answer.missing else (),
        problem=answer.problem,
        code=FOUND if entries else NOTHING,
    )


def view_sessions(answer: SessionRows) -> View:
    """Describe each session in a row."""
    if not answer.sessions:
        hint = "no session yet: see `memory-bank agents install -h`"
        return View(hint, code=NOTHING)
    headings = [
        "session", "started", "project", "agent", "prompts", "observations", "waiting", "title"
    ]  # fmt: skip
    rows = [
        (
            entry.session_id[:_DIGITS], _cut_to_minute(entry.started_at), entry.session.project,
            entry.session.agent, str(entry.counts.prompts), str(entry.counts.observations),
            str(entry.pending), entry.title,
        )
        for entry in answer.sessions
    ]  # fmt: skip
    more = f"{count(answer.total, 'session')} in all: see --limit"
    return View("", [Table(headings, rows)], notices=[more] if answer.total > answer.count else ())


def view_started(session: SessionStep) -> View:
    """Tell whether a session is new, and its project."""
    about = {"session_id": session.session_id, "project": session.project,
             "at": session.started_at}  # fmt: skip
    facts = {"state": session.state, "prompt_number": session.prompt_number}
    entry = Entry(session.session_id, about, verb=f"{session.state}: session",
                  more=f" of {session.project}")  # fmt: skip
    return View(_STATES[session.state], [entry], facts)


def view_stored(stored: SessionStep) -> View:
    """Tell what was stored, and its id."""
    head, name = "Stored the event, which is compressed later", "pending_id"
    if stored.observation_id is not None:
        head, name = "Stored the observation", "observation_id"
    return View(head, (), {name: getattr(stored, name), "prompt_number": stored.prompt_number})


def view_ended(session: SessionStep) -> View:
    """Tell that a session ended, and the id of its summary."""
    if session.summary_id is None:
        return View("Ended the session; nothing happened in it", (), {"summary_id": "null"})
    return View("Ended the session", (), {"summary_id": session.summary_id})


def view_context(answer: Injected, bank: Bank | None = None) -> View:
    """Return the context, which has quotes of its own."""
    return View(text=answer.context, problem=bank.problem if bank else None)


def view_compression(compression: Compression) -> View:
    """Tell how many observations were made, and what failed."""
    observation_count = count(len(compression.observations), "observation")
    return View(
        "another process compresses now"
        if compression.busy
        else f"{observation_count} of {count(compression.events, 'event')}",
        # of a reason without a colon, a notice of the bank says it
        notices=[reason for reason in compression.fallback_reasons if ": " in reason],
        problem="; ".join(compression.problems) or None,
        code=FAILED if compression.problems else FOUND,
    )


def view_recovered(recovered: Recovered) -> View:
    """Tell how many notes of former sessions are here now."""
    notices = [
        f"{count(recovered.notes, 'note')} of former sessions moved here",
        *(f"stays, since there is a note of this path: {path}" for path in recovered.kept),
    ]
    return View(notices=notices, code=FOUND if recovered.ids else NOTHING)


def _make_table(rows: Sequence[IndexRow]) -> Table:
    """Return a row for each; with the project where not all have the same."""
    projects = sorted({row.project for row in rows})
    several = len(projects) > 1
    headings = ["ID", "type", "time", "tokens to read", "title", *(["project"] * several)]
    cells = [
        [
            row.id, row.obs_type or row.type,
            _cut_to_minute(row.created_at), str(row.estimated_tokens), row.title,
            *([row.project[:_TITLE]] * several),
        ]
        for row in rows
    ]  # fmt: skip
    about = {} if several or not projects else {"project": projects[0]}
    return Table(headings, cells, "title", about)


def _cut_to_minute(moment: str) -> str:
    return moment[:_MINUTE].replace("T", " ")


def _describe_details(details: Details, *, several: bool) -> Entry:
    """Return all that is known of an observation, a session or a note; `several` projects are."""
    row, stored = details.row, details.stored
    observation = stored if isinstance(stored, Observation) else None
    kind, git = row.obs_type or row.type, stored and stored.git
    text = observation.narrative if observation else details.content or ""
    tokens = observation.discovery_tokens if observation else 0
    about: dict[str, object] = {
        "id": row.id,
        "type": kind,
        "title": "" if text.startswith(row.title) else row.title,
        "project": row.project if several else "",
        "at": _cut_to_minute(row.created_at),
        "path": "" if observation else row.path,
        "session": stored.session_id if stored and not observation else "",
        "concepts": ", ".join(observation.concepts if observation else ()),
        "reads": ", ".join(observation.files_read if observation else ()),
        "modifies": ", ".join(observation.files_modified if observation else ()),
        "prompt": (observation and observation.prompt_number) or "",
        "work_tokens": tokens or "",
        "branch": git.branch if git else "",
        "commit": git.commit[:_DIGITS] if git else "",
    }
    named = [f"{name}: {about[name]}" for name in ("concepts", "reads", "modifies") if about[name]]
    work = f"{tokens:,} tokens of work" if tokens else ""
    line: list[str | Place] = [
        kind, row.created_at, row.project, Place(row.path), work,
        f"{about['branch']} {about['commit']}".strip(), *named,
    ]  # fmt: skip
    return Entry(row.id, about, _write_body(details), row.title, line=line)


def _write_body(details: Details) -> str:
    stored = details.stored
    if isinstance(stored, Observation):
        facts = "\n".join(f"- {fact}" for fact in stored.facts)
        parts = [stored.subtitle, facts, stored.narrative]
    elif stored:
        rows = _make_table(details.observations or ()).rows
        parts = [
            "\n".join(_yield_summary_lines(stored.summary)),
            "\n".join(f"prompt {p.prompt_number}: {p.prompt_text}" for p in stored.prompts),
            "\n".join(" | ".join(map(str, row)) for row in rows),
        ]
    else:
        parts = [details.content or ""]
    return "\n\n".join(filter(None, parts))


def _yield_summary_lines(summary: object) -> Iterator[str]:
    for key in SUMMARY_TEXTS:
        if text := getattr(summary, key, ""):
            yield f"{key.replace('_', ' ')}: {text.strip()}"


def _view_session(answer: SessionShown) -> View:
    """Describe a session with its prompts, its summary and its observations."""
    session = answer.session
    git = session.git
    end = f"to {session.ended_at:%Y-%m-%d %H:%M}" if session.ended_at else "still open"
    where = (f"branch {git.branch}" if git.branch else f"at {git.commit[:_DIGITS]}") if git else ""
    line: list[str | Place] = [
        f"session {session.session_id}", f"project {session.project}", session.agent,
        f"{session.started_at:%Y-%m-%d %H:%M} {end}", where,
        f"{count(answer.pending, 'event')} wait to be compressed" if answer.pending else "",
    ]  # fmt: skip
    line += [Place(path) for path in (session.path, *answer.notes) if path]
    prompts = [f"prompt {p.prompt_number}: {' '.join(p.prompt_text.split())}"
               for p in session.prompts]  # fmt: skip
    text = "\n".join([*prompts, *_yield_summary_lines(session.summary)])
    entries = [_describe_observation(observation) for observation in session.observations]
    return View("", [Entry("", {}, text, answer.title, line=line), *entries])


def _describe_observation(observation: Observation) -> Entry:
    line = [
        observation.obs_type,
        *(f"read: {path}" for path in observation.files_read),
        *(f"modified: {path}" for path in observation.files_modified),
    ]
    texts = [observation.subtitle, *observation.facts, observation.narrative]
    text = "\n".join(filter(None, texts))
    return Entry(observation.id, {}, text, observation.title, line=line)
