"""Sessions of agents: start, record, end, list and show them."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

from blake3 import blake3

from memory_bank.bank.bank import Bank
from memory_bank.base.dates import format_iso
from memory_bank.base.errors import BadInput, MemoryBankError
from memory_bank.base.operation import LONGEST_NAME, Param, Tool, operation
from memory_bank.base.screen import Call
from memory_bank.base.text import agent_name, estimate
from memory_bank.sessions import views
from memory_bank.sessions.answers import (
    SessionStep,
)
from memory_bank.sessions.compress import compress
from memory_bank.sessions.note_format import FOLDER, settle_observation, settle_summary
from memory_bank.sessions.note_store import NoteStore
from memory_bank.sessions.note_text import one_line
from memory_bank.sessions.queue import SESSION_ENDED
from memory_bank.sessions.queue_rows import parse_time
from memory_bank.sessions.records import (
    TITLE_LIMIT,
    Event,
    Observation,
    ObservationType,
    Prompt,
    Session,
    Summary,
    check_type,
)
from memory_bank.sessions.redaction import Json, redact_json, redact_record, redact_value
from memory_bank.sessions.state import (
    bank_project,
    build_redactor,
    check_captured,
    find_known_session,
    git_state,
    git_state_at,
    is_idle,
    last_moment,
    mark_taken_back,
    open_store,
)
from memory_bank.sessions.summaries import build_summary

if TYPE_CHECKING:
    from memory_bank.sessions.compression.modes import Sample

_ENDING_SECONDS = 600.0
"""Seconds that the process has which ends a session: a program or a model may make the
observations."""


def end_killed(bank: Bank, starting: str = "") -> list[str]:
    """End the sessions in which nothing happened for long, and those that ended without a summary.

    Call it after `compress`. The session that is `starting` goes on. Sessions with events that
    still wait, here or in another work tree, are left for the next time. Returns problems.
    """
    with open_store(bank) as store:
        ids = [
            outline.session.session_id
            for outline in store.queue.outlines(ongoing=True)
            if is_idle(store, outline)
        ]
        ids += store.queue.without_summary(time.time() - _ENDING_SECONDS)
    problems = []
    for session_id in ids:
        try:
            if session_id != starting:
                _end_if_idle(bank, session_id)
        except MemoryBankError as error:
            problems.append(f"session {session_id[:60]}: {error.message}")
    return problems


def _end_if_idle(bank: Bank, session_id: str) -> None:
    with open_store(bank) as store:
        session, row = store.get_session(session_id), store.queue.session(session_id)
        if session is None or row is None or store.get_pending(session_id, 1):
            return
        private = bank.roots.is_private(f"{FOLDER}/new.md")
        if row.path and not session.path and not private:
            return  # its note is in another work tree
        if session.ended_at is not None and session.summary is not None:
            return
        moment = last_moment(session)
        if outline := store.queue.running(session_id):
            moment = max(moment, parse_time(outline.last_moment))
    _close_session(bank, session_id, None, session.ended_at or moment, if_idle=True)


DEFAULT_TYPE = "discovery"

MOST_TEXT = 20_000
"""Characters of the input or output of one event that are kept; the middle of more is cut out."""

_END_SECONDS = 20.0
"""Seconds that the end of a session waits for a process that compresses its events."""

# Of a new id.
_DIGITS = 12

NEW, ACTIVE, RESUMED = "new", "active", "resumed"


_Texts = Annotated[Sequence[str], Param(longest=LONGEST_NAME, most=1000)]


@operation(
    "session start",
    why="""
    Starts a session by hand, or resumes the one of that id. Hooks of agents' programs do it by
    themselves.
    """,
    examples=(("memory-bank session start review-4 --project shop", "start one by hand"),),
    view=views.view_started,
    tool=Tool(
        "Start or resume a session, where no hook does it.",
        "sessions",
        repeatable=True,
    ),
)
def start_session(
    bank: Bank,
    session_id: Annotated[str, Param(argument=True, metavar="SESSION")],
    project: Annotated[
        str | None, Param("Its project [default: the repository's name]", metavar="NAME")
    ] = None,
    agent: Annotated[str, Param("The agent's program", metavar="NAME")] = "",
) -> SessionStep:
    """Start a session, or resume the one of that id.

    Start a session, or resume the one of that id, whose end is cleared.

    `project` is the name of the repository's main work tree by default. Raises BadInput for an
    empty id, and where sessions are not captured.
    """
    check_captured(bank)
    with open_store(bank) as store:
        return _start_agent(bank, store, session_id, project, agent)


def store_prompt(
    bank: Bank, session_id: str, prompt_text: str, *, project: str | None = None, agent: str = ""
) -> SessionStep:
    """Store what the user asks for, without secrets and private spans; start an unknown session."""
    check_captured(bank)
    text, count = build_redactor(bank)(prompt_text)
    with open_store(bank) as store:
        started = _start_agent(bank, store, session_id, project, agent)
        number = store.store_prompt(Prompt(started.session_id, 0, text, datetime.now(UTC)))
        store.queue.add_counts(started.session_id, redactions=count)
    return SessionStep(started.session_id, number)


@operation(
    "",
    view=views.view_stored,
    tool=Tool(
        """Save what a step of this session taught or changed (title), or a tool's use (tool_name).
        A note: `remember`.""",
        "sessions",
        takes=(
            "session_id",
            "tool_name",
            "project",
            "tool_input",
            "tool_output",
            "title",
            "obs_type",
            "subtitle",
            "facts",
            "narrative",
            "concepts",
            "files_read",
            "files_modified",
        ),
        defaults={"obs_type": None},
    ),
)
def store_observation(
    bank: Bank,
    session_id: Annotated[str, Param()],
    tool_name: Annotated[str, Param()] = "",
    project: Annotated[str | None, Param()] = None,
    tool_input: Annotated[Json, Param(only=Any)] = None,
    tool_output: Annotated[Json, Param(only=Any)] = None,
    *,
    obs_type: Annotated[str, Param(only=ObservationType | None)] = "",
    title: Annotated[str, Param(about="short")] = "",
    subtitle: Annotated[str, Param()] = "",
    facts: _Texts = (),
    narrative: Annotated[str, Param()] = "",
    concepts: _Texts = (),
    files_read: _Texts = (),
    files_modified: _Texts = (),
    agent: str = "",
) -> SessionStep:
    """Store the use of a tool, which is compressed later, or an observation in the agent's words.

    With a `title` of under 100 characters it is an observation at once. Secrets and private spans
    are redacted. An unknown session is started. Raises BadInput for a wrong type or title, without
    tool and title, and where sessions are not captured.
    """
    check_captured(bank)
    worded = {
        "obs_type": check_type(obs_type or DEFAULT_TYPE),
        "title": _check_title(title),
        "subtitle": subtitle,
        "facts": tuple(facts),
        "narrative": narrative,
        "concepts": tuple(concepts),
        "files_read": tuple(files_read),
        "files_modified": tuple(files_modified),
    }
    if not worded["title"]:
        if any((obs_type, subtitle, facts, narrative, files_modified)):
            raise BadInput("an observation needs a title", "say in it what was done or learned")
        if not tool_name.strip():
            raise BadInput("nothing to store", "give a title, or the tool that was used")
    before, count_before = _shorten_payload(bank, tool_input)
    after, count_after = _shorten_payload(bank, tool_output)
    with open_store(bank) as store:
        started = _start_agent(bank, store, session_id, project, agent)
        if worded["title"]:
            work = estimate(before) + estimate(after)
            return _store_worded(bank, store, started, {**worded, "discovery_tokens": work})
        event = Event(
            0, started.session_id, one_line(tool_name)[:TITLE_LIMIT], before, after, 0,
            datetime.now(UTC), cwd=str(bank.layout.project),
        )  # fmt: skip
        pending = store.queue_pending(event)
        store.queue.add_counts(started.session_id, redactions=count_before + count_after)
    return SessionStep(started.session_id, started.prompt_number, pending_id=pending)


def end_session(
    bank: Bank,
    session_id: str,
    summary: str | Mapping[str, object] | None = None,
    *,
    ended_at: datetime | None = None,
    sample: Sample | None = None,
) -> str | None:
    """End a session and return the id of its summary; None if nothing happened in it.

    `summary` is a text of what was completed, or a mapping with some of request, investigated,
    learned, completed, next_steps and notes. Without it, a summary that the session has stays,
    else one is made of its prompts and observations. `ended_at` is now by default.
    `sample` asks a client's model, as in `compress`. Raises BadInput for an unknown session.
    """
    return _close_session(bank, session_id, summary, ended_at, sample=sample)


def _close_session(
    bank: Bank,
    session_id: str,
    summary: str | Mapping[str, object] | None,
    ended_at: datetime | None,
    *,
    sample: Sample | None = None,
    if_idle: bool = False,
) -> str | None:
    """End a session as `end_session` does; with `if_idle`, not one that goes on by then."""
    with open_store(bank) as store:
        session_id = find_known_session(store, session_id).session_id
    compress(bank, session_id, wait=_END_SECONDS, sample=sample)
    with open_store(bank) as store:
        before = find_known_session(store, session_id)
        running = store.queue.running(session_id) if if_idle else None
        if running and not is_idle(store, running):
            return None  # it has started again, as it may while others are ended
        ended = before._replace(ended_at=ended_at or datetime.now(UTC))
        written = _make_summary(bank, store, ended, summary)
        store.update_session(ended)
        former_id = summary_id = before.summary.id if before.summary else None
        if written is not None:
            summary_id = store.store_summary(written)
            if summary is None:
                store.queue.update(session_id, summary=_mark_of_summary(written))
        if before.ended_at is None or summary_id != former_id:
            store.queue.announce(SESSION_ENDED, session_id, summary_id=summary_id)
    return summary_id


def _end_with_stdin(
    call: Call, bank: Bank, session_id: str, summary: str | None = None
) -> SessionStep:
    """End a session, with a summary that stdin may have."""
    return end(bank, session_id, call.read_text("-") if summary == "-" else summary)


@operation(
    "session end",
    why="""
    Compresses what waits, and ends a session with a summary: the given text, `-` for stdin, else
    one of its prompts and observations.
    """,
    examples=(
        ("memory-bank session end 7f3c2d10-4a55", "with a summary of what is known"),
        ("memory-bank session end review-4 'Retries are in place'", "with your own words"),
    ),
    through=_end_with_stdin,
    view=views.view_ended,
    tool=Tool(
        "End a session with its summary, where no hook does it.",
        "sessions",
        name="end_session",
        repeatable=True,
    ),
)
def end(
    bank: Bank,
    session_id: Annotated[str, Param(argument=True, metavar="SESSION")],
    summary: Annotated[
        str | dict[str, str | list[str]] | None,
        Param(
            argument=True,
            about="text, or {request, investigated, learned, completed, next_steps, notes}",
        ),
    ] = None,
    *,
    sample: Sample | None = None,
) -> SessionStep:
    """End a session with a summary.

    The answer is that of front ends; `end_session` returns the id of the summary.
    """
    summary_id = end_session(bank, session_id, summary, sample=sample)
    return SessionStep(session_id, summary_id=summary_id)


def _make_summary(
    bank: Bank, store: NoteStore, session: Session, argument: str | Mapping[str, object] | None
) -> Summary | None:
    """Return the summary to store; None to leave what there is."""
    is_first = not (argument is None or (isinstance(argument, str) and not argument.strip()))
    if not is_first:
        there = session.summary
        if there is not None and store.queue.summary(session.session_id) != _mark_of_summary(there):
            return None  # it is the agent's, or a person's
        if not (session.prompts or session.observations):
            return None
    ended = session.ended_at or datetime.now(UTC)
    git = git_state_at(session, ended, bank.layout.project)
    (session_left,) = mark_taken_back(bank.layout.project, [session])
    summary = build_summary(session_left, argument, ended, git)
    bare, count = redact_record(summary, build_redactor(bank))
    store.queue.add_counts(session.session_id, redactions=count)
    return settle_summary(bare, session.git)


def _mark_of_summary(summary: Summary) -> str:
    """Return what tells later that a summary was made here and is unchanged."""
    return json.dumps({"made_here": True, **summary._asdict()}, ensure_ascii=False, default=str)


def _start_agent(
    bank: Bank, store: NoteStore, session_id: str, project: str | None, agent: str
) -> SessionStep:
    session = store.queue.session(one_line(session_id))
    if session is None or session.ended_at is not None:
        session = store.get_session(session_id)
    state = ACTIVE
    if session is None:
        git = git_state(bank.layout.project)
        name = one_line(project or "") or bank_project(bank)
        new = Session(session_id, name, datetime.now(UTC), agent_name(agent), git=git)
        state = NEW if store.create_session(new) else ACTIVE
        session = find_known_session(store, session_id)
    elif session.ended_at is not None:
        session, state = session._replace(ended_at=None), RESUMED
        store.update_session(session)
    return SessionStep(
        session.session_id,
        session.last_prompt_number,
        session.project,
        state,
        format_iso(session.started_at),
    )


def _check_title(title: str) -> str:
    title = one_line(title)
    if len(title) >= TITLE_LIMIT:
        raise BadInput(
            f"the title has {len(title)} characters",
            f"say it in fewer than {TITLE_LIMIT}, the rest in subtitle or narrative",
        )
    return title


def _shorten_payload(bank: Bank, value: Json) -> tuple[str, int]:
    """Return the input or output of a tool as it is stored, and how much was redacted."""
    allowed = bank.settings.secrets.allow
    if isinstance(value, str):
        text, count = redact_json(value, allowed)
    elif value is None:
        return "", 0
    else:
        bare, count = redact_value(value, allowed)
        text = json.dumps(bare, ensure_ascii=False)
    if len(text) > MOST_TEXT:
        half = MOST_TEXT // 2
        text = f"{text[:half]}\n[… {len(text) - 2 * half:,} characters cut …]\n{text[-half:]}"
    return text, count


def _store_worded(
    bank: Bank, store: NoteStore, started: SessionStep, worded: Mapping[str, object]
) -> SessionStep:
    now = datetime.now(UTC)
    observation = Observation(
        id="",
        session_id=started.session_id,
        project=started.project,
        created_at=now,
        prompt_number=started.prompt_number or 0,
        git=git_state(bank.layout.project),
        **worded,  # type: ignore[arg-type]
    )
    bare, count = redact_record(observation, build_redactor(bank))
    bare = settle_observation(bare)
    # the same words twice are one observation
    text = json.dumps({**bare._asdict(), "created_at": ""}, sort_keys=True, default=str)
    text_id = f"obs-{blake3(text.encode('utf-8', 'replace')).hexdigest()[:_DIGITS]}"
    observation_id = store.store_observation(bare._replace(id=text_id))
    store.queue.add_counts(started.session_id, redactions=count)
    return SessionStep(started.session_id, started.prompt_number, observation_id=observation_id)
