"""The sessions of a bank by day, agent and project, with what is known of each without its text."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from itertools import groupby
from typing import Literal, NamedTuple

from memory_bank.bank.bank import Bank
from memory_bank.bank.open_index import View
from memory_bank.base.dates import iso_of, to_datetime
from memory_bank.base.errors import BadInput
from memory_bank.notes.roots import SESSIONS
from memory_bank.search.manifest import document_rows
from memory_bank.search.manifest.document_rows import DocumentRow
from memory_bank.search.manifest.entries import session_id_of
from memory_bank.search.manifest.tables import SessionCounts, session_counts
from memory_bank.sessions.compress import compress_now
from memory_bank.sessions.notes.note_text import one_line
from memory_bank.sessions.queue_rows import Outline
from memory_bank.sessions.state import IDLE, IndexedNotes, opened

State = Literal["open", "silent", "ended", "unfinished", "damaged"]
"""It goes on; it has no end, but nothing happened in it for hours, as after a kill; it ended; it
ended, but got no summary; its note can't be read."""

SESSION_FOLDER = SESSIONS
"""The folder of the notes of sessions, with a slash."""

_TITLE = 99

_DAY = 86400

_NOTHING = SessionCounts()


class SessionEntry(NamedTuple):
    """A session in the timeline."""

    session_id: str
    title: str
    project: str
    agent: str
    started_at: str
    ended_at: str | None
    """None if no end is known."""
    state: State
    prompts: int
    observations: int
    pending: int
    """Events that wait to be compressed."""
    redactions: int
    read_tokens: int
    """Estimated, to read the observations."""
    work_tokens: int
    """Estimated, of the events that they were made of."""
    path: str
    """Its note; empty before that is written."""
    private: bool
    """Whether its note is only on this machine."""

    @property
    def saved_tokens(self) -> int:
        """The work without the reading, as far as that is a saving."""
        return max(0, self.work_tokens - self.read_tokens)


class SessionDay(NamedTuple):
    """The sessions that started on a day, in UTC."""

    day: str
    total: int
    """Also of those on other pages."""
    sessions: tuple[SessionEntry, ...]


class UnreadableSession(NamedTuple):
    """A file among the notes of sessions that can't be read."""

    path: str
    reason: str


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
    unreadable: tuple[UnreadableSession, ...]
    problem: str | None


class _Known(NamedTuple):
    """What the queue and the index know of a session."""

    started: float
    session_id: str
    agent: str
    project: str
    row: Outline | None
    document: DocumentRow | None


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
    with opened(bank) as store:
        outlines = store.queue.outlines()
        known = _known(outlines, IndexedNotes(bank).rows())
    end = before.timestamp() + _DAY if before else None
    wanted = [
        one
        for one in known
        if (agent is None or one.agent.casefold() == agent.casefold())
        and project.casefold() in ("", one.project.casefold())
        and (since is None or one.started >= since.timestamp())
        and (end is None or one.started < end)
    ]
    page = wanted[max(offset, 0) :][: max(limit, 1)]
    unreadable = bank.read(unreadable_notes)
    numbers = [one.document.number for one in page if one.document]
    counts = bank.read(lambda view: session_counts(view.manifest, numbers))
    damaged = frozenset(one.path for one in unreadable)
    entries = [
        entry(bank, one.row, one.document, counts.get(_number(one), _NOTHING), damaged)
        for one in page
    ]
    return SessionTimeline(
        total=len(wanted),
        offset=max(offset, 0),
        count=len(page),
        days=_days(entries, Counter(_day_of(one.started) for one in wanted)),
        agents=_counted(one.agent for one in known),
        projects=_counted(one.project for one in known),
        unreadable=unreadable,
        problem=bank.problem or None,
    )


def _days(entries: Iterable[SessionEntry], counts: Mapping[str, int]) -> tuple[SessionDay, ...]:
    """Return sessions by day; `counts` also counts those of other pages."""
    by_day = groupby(entries, key=lambda one: one.started_at[:10])
    return tuple(SessionDay(day, counts[day], tuple(some)) for day, some in by_day)


def entry(
    bank: Bank,
    row: Outline | None,
    document: DocumentRow | None,
    counts: SessionCounts,
    damaged: Collection[str] = (),
) -> SessionEntry:
    """Return what the queue and the index know of a session, of which one of them knows."""
    extra = (document.data.get("extra") or {}) if document else {}
    ended = row.ended_at if row else _time(extra.get("ended_at"))
    last = max(row.last_moment if row else 0.0, counts.last, document.created if document else 0.0)
    path = document.key if document else row.note if row and row.note in damaged else ""
    summary = counts.summary or bool(row and row.summary)
    happened = counts.observations or counts.prompts or (row and row.prompts)
    return SessionEntry(
        session_id=row.session_id if row else session_id_of(document) if document else "",
        title=_title(row, document),
        project=_told(extra.get("project")) or (row.project if row else ""),
        agent=_agent(row, document),
        started_at=iso_of(document.created if document else row.started_at if row else 0.0),
        ended_at=iso_of(ended) if ended else None,
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


def _state(ended: float | None, last: float, *, finished: bool, damaged: bool) -> State:
    if damaged:
        return "damaged"
    if ended is not None:
        return "ended" if finished else "unfinished"
    return "open" if time.time() - last < IDLE.total_seconds() else "silent"


def _known(outlines: Sequence[Outline], rows: Sequence[DocumentRow]) -> list[_Known]:
    """Return all sessions, the last started first."""
    noted = {session_id_of(row): row for row in rows}
    found = [
        _Known(
            noted[one.session_id].created if one.session_id in noted else one.started_at,
            one.session_id,
            _agent(one, noted.get(one.session_id)),
            _project(one, noted.get(one.session_id)),
            one,
            noted.get(one.session_id),
        )
        for one in outlines
    ]
    queued = {one.session_id for one in outlines}
    found += [
        _Known(row.created, name, _agent(None, row), _project(None, row), None, row)
        for name, row in noted.items()
        if name not in queued
    ]
    return sorted(found, key=lambda one: (one.started, one.session_id), reverse=True)


def unreadable_notes(view: View) -> tuple[UnreadableSession, ...]:
    """Return the files among the notes of sessions that can't be read."""
    found = document_rows.unindexed(view.manifest)
    return tuple(UnreadableSession(*one) for one in found if one[0].startswith(SESSIONS))


def _agent(row: Outline | None, document: DocumentRow | None) -> str:
    noted = _told(document.data.get("source_agent")) if document else ""
    return noted or (row.agent if row else "")


def _project(row: Outline | None, document: DocumentRow | None) -> str:
    noted = _told((document.data.get("extra") or {}).get("project")) if document else ""
    return noted or (row.project if row else "")


def _title(row: Outline | None, document: DocumentRow | None) -> str:
    found = document.title if document else one_line((row and row.first_prompt) or "")
    return (found if len(found) <= _TITLE else f"{found[: _TITLE - 1].rstrip()}…") or "Session"


def _told(value: object) -> str:
    return one_line(str(value)) if isinstance(value, str | int | float) else ""


def _number_in(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def _number(one: _Known) -> int:
    return one.document.number if one.document else -1


def _time(value: object) -> float | None:
    found = to_datetime(str(value)) if value else None
    return found.timestamp() if found else None


def _day_of(when: float) -> str:
    return iso_of(when)[:10]


def _counted(names: Iterable[str]) -> dict[str, int]:
    """Return how often there is each name, the most frequent first."""
    return dict(sorted(Counter(names).items(), key=lambda one: (-one[1], one[0])))


def _start_of(given: str) -> datetime | None:
    if not given.strip():
        return None
    try:
        found = date.fromisoformat(given.strip())
    except ValueError:
        raise BadInput(f"{given[:40]!r} is no day", "write it as 2026-11-23") from None
    return datetime(found.year, found.month, found.day, tzinfo=UTC)
