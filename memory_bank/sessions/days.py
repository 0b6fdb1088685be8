"""The sessions of a bank by day, agent and project, with what is known of each without its text."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from itertools import groupby

from memory_bank.bank.bank import Bank
from memory_bank.base import NamedTuple
from memory_bank.base.dates import seconds_to_iso, to_datetime
from memory_bank.base.documents import PathProblem
from memory_bank.base.errors import BadInput
from memory_bank.notes.roots import SESSIONS
from memory_bank.search.index import View
from memory_bank.search.manifest import document_rows
from memory_bank.search.manifest.document_rows import DocumentRow
from memory_bank.search.manifest.entries import read_session_id
from memory_bank.search.manifest.tables import SessionCounts, session_counts
from memory_bank.sessions import note_format
from memory_bank.sessions.answers import SessionEntry, State
from memory_bank.sessions.compress import compress_now
from memory_bank.sessions.note_text import one_line
from memory_bank.sessions.queue_rows import Outline
from memory_bank.sessions.state import IDLE, IndexedNotes, open_store

# Characters of a title, as rows of observations have.
_TITLE = 99

_DAY = 86400


class SessionDay(NamedTuple):
    """The sessions that started on a day, in UTC."""

    day: str
    total: int
    """Also of those on other pages."""
    sessions: tuple[SessionEntry, ...]


@dataclass(frozen=True, slots=True)
class SessionTimeline:
    """One page of the sessions by day, the newest first."""

    total: int
    """Number of sessions that meet the conditions."""
    offset: int
    count: int
    days: tuple[SessionDay, ...]
    agents: Mapping[str, int]
    """Number of sessions of each agent, whatever the conditions are; without name: unknown."""
    projects: Mapping[str, int]
    unreadable: tuple[PathProblem, ...]
    problem: str | None


class KnownSession(NamedTuple):
    """What the queue and the index know of a session."""

    started: float
    session_id: str
    agent: str
    project: str
    row: Outline | None
    document: DocumentRow | None

    @property
    def empty(self) -> bool:
        """Whether it ended before anything happened."""
        row = self.row if self.document is None else None
        prompts = row and (row.prompts or row.pending or row.summary or row.note)
        return bool(row and row.ended_at and not prompts)


def known_sessions(bank: Bank) -> list[KnownSession]:
    """Return all sessions, the last started first."""
    notes = {read_session_id(row): row for row in IndexedNotes(bank).rows()}
    with open_store(bank) as store:
        outlines = {outline.session.session_id: outline for outline in store.queue.outlines()}
    sessions = [
        KnownSession(
            started=document.created if document else row.session.started_at if row else 0.0,
            session_id=name,
            agent=_show_key(document and document.data.get("source_agent"))
            or (row.session.agent if row else ""),
            project=_show_key(_extra(document).get("project"))
            or (row.session.project if row else ""),
            row=row,
            document=document,
        )
        for name in dict.fromkeys((*outlines, *notes))
        for row, document in [(outlines.get(name), notes.get(name))]
    ]
    return sorted(sessions, key=lambda session: (session.started, session.session_id), reverse=True)


def find_session(sessions: Sequence[KnownSession], text: str) -> KnownSession | None:
    """Return the session of an id, of the start of one, or of a note; None if there is none.

    Raises BadInput for a start that several have.
    """
    name = one_line(text)
    same_sessions = [session for session in sessions if session.session_id == name]
    notes = [
        session
        for session in sessions
        if session.document and session.document.key in (name, f"{name}.md")
    ]
    matching = (
        same_sessions
        or notes
        or [session for session in sessions if name and session.session_id.startswith(name)]
    )
    if len(matching) > 1:
        ids = ", ".join(session.session_id[:40] for session in matching[:5])
        message = f"{name[:60]!r} starts {len(matching)} sessions"
        raise BadInput(message, "say which: {ids}", ids=ids)
    return matching[0] if matching else None


def session_timeline(
    bank: Bank,
    *,
    agent: str | None = None,
    project: str = "",
    first_day: str = "",
    last_day: str = "",
    limit: int = 50,
    offset: int = 0,
) -> SessionTimeline:
    """Return the sessions by day, the last started first.

    Conditions are the agent (empty for those without one), the project, and the days, as
    `2026-11-23` in UTC. Raises BadInput for another form of a day.
    """
    since, before = _start_of(first_day), _start_of(last_day)
    compress_now(bank)
    sessions = known_sessions(bank)
    chosen = [
        session
        for session in sessions
        if (agent is None or session.agent.casefold() == agent.casefold())
        and project.casefold() in ("", session.project.casefold())
        and (since is None or session.started >= since.timestamp())
        and (before is None or session.started < before.timestamp() + _DAY)
    ]
    page = chosen[max(offset, 0) :][: max(limit, 1)]
    return SessionTimeline(
        total=len(chosen),
        offset=max(offset, 0),
        count=len(page),
        days=_days(
            list_entries(bank, page),
            Counter(seconds_to_iso(session.started)[:10] for session in chosen),
        ),
        agents=_count_names(session.agent for session in sessions),
        projects=_count_names(session.project for session in sessions),
        unreadable=bank.read(unreadable_notes),
        problem=bank.problem or None,
    )


def list_entries(bank: Bank, sessions: Sequence[KnownSession]) -> list[SessionEntry]:
    """Return what lists show of some sessions."""
    numbers = [session.document.number for session in sessions if session.document]
    counts = bank.read(lambda view: session_counts(view.manifest, numbers))
    damaged = frozenset(session.path for session in bank.read(unreadable_notes))
    return [_entry(bank, session, counts, damaged) for session in sessions]


def _days(entries: Iterable[SessionEntry], counts: Mapping[str, int]) -> tuple[SessionDay, ...]:
    """Return sessions by day; `counts` also counts those of other pages."""
    by_day = groupby(entries, key=lambda entry: entry.started_at[:10])
    return tuple(SessionDay(day, counts[day], tuple(sessions)) for day, sessions in by_day)


def _entry(
    bank: Bank,
    session: KnownSession,
    of_notes: Mapping[int, SessionCounts],
    damaged: Collection[str],
) -> SessionEntry:
    row, document, extra = session.row, session.document, _extra(session.document)
    counts = of_notes[document.number] if document else SessionCounts()
    ended = row.ended_at if row else _time(extra.get("ended_at"))
    last = max(row.last_moment if row else 0.0, counts.last, document.created if document else 0.0)
    path = document.key if document else row.note if row and row.note in damaged else ""
    summary = counts.summary or bool(row and row.summary)
    happened = counts.observations or counts.prompts or (row and row.prompts)
    title = document.title if document else one_line((row and row.first_prompt) or "")
    return SessionEntry(
        session_id=session.session_id,
        title=note_format.cut(title, _TITLE) or "Session",
        project=session.project,
        agent=session.agent,
        started_at=seconds_to_iso(session.started),
        ended_at=seconds_to_iso(ended) if ended else None,
        state=_state(ended, last, finished=summary or not happened, damaged=path in damaged),
        prompts=max(counts.prompts, row.prompts if row else 0),
        observations=counts.observations,
        pending=row.pending if row else 0,
        redactions=max(row.redactions if row else 0, _number_in(extra.get("redactions"))),
        read_tokens=counts.read,
        work_tokens=counts.work,
        path=path,
        private=bank.roots.is_private(path) if path else False,
    )


def _extra(document: DocumentRow | None) -> Mapping[str, object]:
    return (document.data.get("extra") or {}) if document else {}


def _state(ended: float | None, last: float, *, finished: bool, damaged: bool) -> State:
    if damaged:
        return "damaged"
    if ended is not None:
        return "ended" if finished else "unfinished"
    return "open" if time.time() - last < IDLE.total_seconds() else "silent"


def unreadable_notes(view: View) -> tuple[PathProblem, ...]:
    """Return the files among the notes of sessions that can't be read."""
    problems = map(PathProblem._make, document_rows.list_unindexed(view.manifest))
    return tuple(problem for problem in problems if problem.path.startswith(SESSIONS))


def _show_key(value: object) -> str:
    return one_line(str(value)) if isinstance(value, str | int | float) else ""


def _number_in(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def _time(value: object) -> float | None:
    moment = to_datetime(str(value)) if value else None
    return moment.timestamp() if moment else None


def _count_names(names: Iterable[str]) -> dict[str, int]:
    """Return how often there is each name, the most frequent first."""
    return dict(
        sorted(
            Counter(names).items(),
            key=lambda entry: (-entry[1], entry[0]),
        )
    )


def _start_of(text: str) -> datetime | None:
    if not text.strip():
        return None
    try:
        day = date.fromisoformat(text.strip())
    except ValueError:
        raise BadInput(f"{text[:40]!r} is no day", "write it as 2026-11-23") from None
    return datetime(day.year, day.month, day.day, tzinfo=UTC)
