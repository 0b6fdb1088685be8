"""Tell an agent what earlier sessions learned, when its session starts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from memory_bank import note_rows
from memory_bank.actions.session_compression import compress_now
from memory_bank.actions.session_state import last_moment, project_of
from memory_bank.bank import Bank, View
from memory_bank.errors import BadInput, NoteNotFound
from memory_bank.manifest import filters, neighbourhood, sections
from memory_bank.manifest.filters import Condition
from memory_bank.note_rows import NoteRow
from memory_bank.sessions import note_format
from memory_bank.sessions.context_text import (
    REQUEST,
    ChangedNote,
    Contents,
    ContextRow,
    context_text,
)
from memory_bank.sessions.model import Observation, Session, check_type
from memory_bank.setting_sections import Context
from memory_bank.tokens import estimate

SCHEMA_VERSION = "1.0"
_MOST_CHANGED = 10
"""Maximum number of changed notes that are listed."""
LEAST_TOKENS = 100
"""Tokens that a context may always have."""
_MANY = 1_000_000


@dataclass(frozen=True, slots=True)
class Injected:
    """What an agent is told when its session starts."""

    schema_version: str
    context: str
    project: str
    observation_count: int
    """Number of observations that were found; the text may have fewer."""
    tokens: int
    """Estimated tokens of the context."""
    empty: bool
    """Whether nothing is recorded that it could tell."""

    @property
    def quoted(self) -> frozenset[str]:
        """The fields whose text quotes what comes from notes."""
        return frozenset(["context"])


@dataclass(frozen=True, slots=True)
class _Found:
    sessions: tuple[Session, ...] = ()
    """The last started first."""
    superseded: frozenset[str] = frozenset()
    """Ids of observations."""
    changed: tuple[ChangedNote, ...] = ()


def inject_context(
    bank: Bank,
    project: str = "",
    session_id: str = "",
    *,
    observation_types: Sequence[str] | None = None,
    concepts: Sequence[str] | None = None,
    observation_limit: int | None = None,
    session_limit: int | None = None,
    days: float | None = None,
    max_tokens: int | None = None,
    quote: Callable[[str], str] = str,
) -> Injected:
    """Return the latest observations, next steps and changed notes of a project as Markdown.

    Of former sessions, it tells what came of them, not what was asked. `project` is that of the
    sessions, any by default; `session_id` is the session that starts. The other arguments replace
    the settings `[context]`. `quote` gets all text that comes from notes and returns it as quoted
    data. Raises BadInput for an unknown type or a negative number.
    """
    limits = _limits(
        bank.settings.context,
        observation_types=observation_types,
        concepts=concepts,
        observation_limit=observation_limit,
        session_limit=session_limit,
        date_range_days=days,
        max_tokens=max_tokens,
    )
    now = datetime.now(UTC)
    compress_now(bank)
    bank.catch_up()
    with bank.lock:
        found = bank.read(lambda view: _find(bank, view, project, session_id, limits, now))
    observations = _chosen(found.sessions, limits, now)
    contents = Contents(
        project=project or (found.sessions[0].project if found.sessions else project_of(bank)),
        now=now,
        rows=tuple(_rows(found, observations, session_id)),
        next_steps=_next_steps(found.sessions, session_id),
        changed=found.changed,
    )
    text = context_text(contents, limits.max_tokens, quote)
    return Injected(
        schema_version=SCHEMA_VERSION,
        context=text,
        project=contents.project,
        observation_count=len(observations),
        tokens=estimate(text),
        empty=contents.empty,
    )


def _next_steps(sessions: Sequence[Session], session_id: str) -> str:
    """Return the next steps of the last session before the one that starts."""
    last = next((one for one in sessions if one.session_id != session_id), None)
    return last.summary.next_steps if last and last.summary else ""


def _limits(settings: Context, **given: Any) -> Context:  # noqa: ANN401  (values of settings)
    limits = settings._replace(
        **{name: value for name, value in given.items() if value is not None}
    )
    for name in ("observation_limit", "session_limit", "date_range_days"):
        if (value := getattr(limits, name)) < 0:
            raise BadInput(f"{name} = {value} is negative", "give 0 or more")
    types = tuple(check_type(one) for one in limits.observation_types)
    return limits._replace(observation_types=types, max_tokens=max(limits.max_tokens, LEAST_TOKENS))


def _find(
    bank: Bank, view: View, project: str, session_id: str, limits: Context, now: datetime
) -> _Found:
    """Read the last sessions, and list the notes that changed since the last one ended."""
    cutoff = now - timedelta(days=limits.date_range_days)
    wanted = [Condition("type", note_format.TYPE), Condition("since", cutoff)]
    if project:
        wanted.append(Condition("project", project.strip()))
    scope = filters.scope(view.manifest, wanted, hidden=False)
    numbers: list[int] = []
    read: list[Session] = []
    for row in note_rows.newest(view.manifest, scope, _MANY):
        if len(read) >= limits.session_limit:
            break
        extra = row.rest.get("extra", ())
        if "session_id" in extra and "project" in extra and (one := _read(bank, row)) is not None:
            numbers.append(row.number)
            read.append(one)
    last = next((one for one in read if one.session_id != session_id), None)
    return _Found(
        sessions=tuple(sorted(read, key=lambda one: one.started_at, reverse=True)),
        superseded=frozenset(sections.superseded(view.manifest, numbers)),
        changed=tuple(_changed(view, last_moment(last))) if last else (),
    )


def _read(bank: Bank, row: NoteRow) -> Session | None:
    """Return the session of a note; None if it is gone or is no session any more."""
    try:
        return note_format.parse(row.path, bank.store.read_bytes(row.path))
    except NoteNotFound:
        return None


def _changed(view: View, since: datetime) -> Iterator[ChangedNote]:
    """Yield the notes that were added or changed after a time, the last changed first."""
    scope = filters.scope(view.manifest, [Condition("since", since)], hidden=False)
    found = [
        note
        for note in note_rows.newest(view.manifest, scope, _MOST_CHANGED * 10)
        if note.type != note_format.TYPE
    ][:_MOST_CHANGED]
    old = neighbourhood.superseded(view.manifest, [note.number for note in found])
    for note in found:
        yield ChangedNote(note.path, note.title, note.number in old)


def _chosen(sessions: Sequence[Session], limits: Context, now: datetime) -> list[Observation]:
    """Return the observations to tell, the newest first."""
    cutoff = now - timedelta(days=limits.date_range_days)
    concepts = {concept.casefold() for concept in limits.concepts}
    found = [
        one
        for session in sessions
        for one in session.observations
        if one.obs_type in limits.observation_types
        and one.created_at >= cutoff
        and (not concepts or concepts.intersection(word.casefold() for word in one.concepts))
    ]
    return sorted(found, key=lambda one: (one.created_at, one.id), reverse=True)[
        : limits.observation_limit
    ]


def _rows(found: _Found, observations: Sequence[Observation], session_id: str) -> list[ContextRow]:
    """Return a row for each observation and for what came of each other session's requests."""
    here = {one.session_id: one.git.repository_id if one.git else "" for one in found.sessions}
    rows = [
        ContextRow(
            one.id,
            one.created_at,
            one.obs_type,
            one.title,
            estimate(note_format.observation_block(one, here[one.session_id])),
            one.discovery_tokens,
            one.id in found.superseded,
        )
        for one in observations
    ]
    for session in found.sessions:
        said = session.summary
        told = said and (said.learned or said.completed)
        if said and told and session.session_id != session_id:
            read = estimate(note_format.summary_block(said, here[session.session_id]))
            rows.append(
                ContextRow(said.id, session.started_at, REQUEST, told, read, said.discovery_tokens)
            )
    return sorted(rows, key=lambda row: (row.created_at, row.id), reverse=True)
