"""The sessions of a bank by day, agent and project, with what is known of each without its text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from itertools import groupby

from memory_bank.bank.bank import Bank
from memory_bank.base import NamedTuple
from memory_bank.base.documents import Document, PathProblem
from memory_bank.base.errors import BadInput
from memory_bank.notes.roots import SESSIONS
from memory_bank.search.index import View
from memory_bank.search.manifest import document_rows
from memory_bank.search.manifest.entries import read_session_id
from memory_bank.search.manifest.tables import SessionCounts, session_counts
from memory_bank.sessions.answers import SessionEntry
from memory_bank.sessions.compress import compress_now
from memory_bank.sessions.note_reading import session_of_keys
from memory_bank.sessions.note_store import IndexedNotes, merge_session
from memory_bank.sessions.note_text import one_line
from memory_bank.sessions.queue_rows import parse_time
from memory_bank.sessions.records import Session
from memory_bank.sessions.state import open_store


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


def list_known_sessions(bank: Bank) -> list[SessionEntry]:
    """Return all sessions without their counts, the last started first."""
    notes = {read_session_id(row): row for row in IndexedNotes(bank).rows()}
    with open_store(bank) as store:
        outlines = {outline.session.session_id: outline for outline in store.queue.outlines()}
    entries = []
    for name in dict.fromkeys((*outlines, *notes)):
        outline, document = outlines.get(name), notes.get(name)
        session = merge_session(outline and outline.session, document and _session_of(document))
        if session is not None:
            entries.append(SessionEntry(session, outline, document))
    return sorted(
        entries,
        key=lambda entry: (entry.session.started_at, entry.session_id),
        reverse=True,
    )


def _session_of(document: Document) -> Session:
    """Return the session of a note, as the index knows it."""
    started = parse_time(document.created)
    agent = str(document.data.get("source_agent") or "")
    return session_of_keys(document.data["extra"], started, agent, document.key)


def find_session(entries: Sequence[SessionEntry], text: str) -> SessionEntry | None:
    """Return the session of an id, of the start of one, or of a note; None if there is none.

    Raises BadInput for a start that several have.
    """
    name = one_line(text)
    matching = (
        [entry for entry in entries if entry.session_id == name]
        or [entry for entry in entries if name and entry.path in (name, f"{name}.md")]
        or [entry for entry in entries if name and entry.session_id.startswith(name)]
    )
    if len(matching) > 1:
        ids = ", ".join(entry.session_id[:40] for entry in matching[:5])
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
    entries = list_known_sessions(bank)
    chosen = [
        entry
        for entry in entries
        if (agent is None or entry.session.agent.casefold() == agent.casefold())
        and project.casefold() in ("", entry.session.project.casefold())
        and (since is None or entry.session.started_at >= since)
        and (before is None or entry.session.started_at.date() <= before.date())
    ]
    page = chosen[max(offset, 0) :][: max(limit, 1)]
    return SessionTimeline(
        total=len(chosen),
        offset=max(offset, 0),
        count=len(page),
        days=_days(count_contents(bank, page), Counter(entry.started_at[:10] for entry in chosen)),
        agents=_count_names(entry.session.agent for entry in entries),
        projects=_count_names(entry.session.project for entry in entries),
        unreadable=bank.read(unreadable_notes),
        problem=bank.problem or None,
    )


def count_contents(bank: Bank, entries: Sequence[SessionEntry]) -> list[SessionEntry]:
    """Return some sessions with what their notes have, and where these are."""
    numbers = [entry.document.number for entry in entries if entry.document]
    counts = bank.read(lambda view: session_counts(view.manifest, numbers))
    damaged = frozenset(note.path for note in bank.read(unreadable_notes))
    return [_count_entry(bank, entry, counts, damaged) for entry in entries]


def _count_entry(
    bank: Bank,
    entry: SessionEntry,
    counts_of: Mapping[int, SessionCounts],
    damaged: Collection[str],
) -> SessionEntry:
    outline, document, session = entry.outline, entry.document, entry.session
    counts = counts_of[document.number] if document else SessionCounts()
    if outline:
        counts = counts._replace(prompts=max(counts.prompts, outline.prompts))
        if document is None and outline.session.path in damaged:
            session = session._replace(path=outline.session.path)
    return entry._replace(
        session=session,
        counts=counts,
        damaged=session.path in damaged,
        private=bool(session.path) and bank.roots.is_private(session.path),
    )


def _days(entries: Iterable[SessionEntry], counts: Mapping[str, int]) -> tuple[SessionDay, ...]:
    """Return sessions by day; `counts` also counts those of other pages."""
    by_day = groupby(entries, key=lambda entry: entry.started_at[:10])
    return tuple(SessionDay(day, counts[day], tuple(sessions)) for day, sessions in by_day)


def unreadable_notes(view: View) -> tuple[PathProblem, ...]:
    """Return the files among the notes of sessions that can't be read."""
    problems = map(PathProblem._make, document_rows.list_unindexed(view.manifest))
    return tuple(problem for problem in problems if problem.path.startswith(SESSIONS))


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
