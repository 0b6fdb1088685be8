"""List the sessions of a bank, and show one."""

from __future__ import annotations

from dataclasses import dataclass

from memory_bank.actions.session_compression import compress_now
from memory_bank.actions.session_state import IndexedNotes, found, opened
from memory_bank.bank import Bank
from memory_bank.errors import BadInput
from memory_bank.manifest.entries import session_id_of
from memory_bank.notes.dates import iso
from memory_bank.sessions.model import Session
from memory_bank.sessions.note_format import title_of
from memory_bank.sessions.note_store import NoteStore
from memory_bank.sessions.note_text import one_line

SCHEMA_VERSION = "1.0"


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A session in a list."""

    session_id: str
    project: str
    title: str
    agent: str
    started_at: str
    ended_at: str | None
    """None while it goes on."""
    prompts: int
    observations: int
    pending: int
    """Events that wait to be compressed."""
    path: str
    """Its note; empty before that is written."""


@dataclass(frozen=True, slots=True)
class SessionRows:
    """Sessions, the newest first."""

    schema_version: str
    count: int
    total: int
    """Number of sessions that meet the conditions."""
    sessions: tuple[SessionRow, ...]


@dataclass(frozen=True, slots=True)
class SessionShown:
    """A session with all that belongs to it."""

    schema_version: str
    title: str
    pending: int
    """Events that wait to be compressed."""
    session: Session
    notes: tuple[str, ...] = ()
    """Paths of the notes that an agent wrote in it."""


def list_sessions(
    bank: Bank, limit: int = 20, *, project: str = "", offset: int = 0
) -> SessionRows:
    """List the sessions, the last started first, of one project if given."""
    compress_now(bank)
    with opened(bank) as store:
        rows = store.queue.sessions()
        started = {one.session_id: (one.started_at.timestamp(), one.project) for one in rows}
        titles = dict[str, str]()
        for row in IndexedNotes(bank).rows():
            named = str((row.data.get("extra") or {}).get("project") or "")
            started[session_id_of(row)] = row.created, named
            titles[session_id_of(row)] = row.title
        wanted = [
            (when, name)
            for name, (when, named) in started.items()
            if project.casefold() in ("", named.casefold())
        ]
        page = [name for _, name in sorted(wanted, reverse=True)][offset:][:limit]
        shown = [
            _row(store, known, titles.get(one)) for one in page if (known := store.get_session(one))
        ]
    return SessionRows(SCHEMA_VERSION, len(shown), len(wanted), tuple(shown))


def count_sessions(bank: Bank) -> int:
    """Count the sessions, those included that have no note yet."""
    with opened(bank) as store:
        waiting = {one.session_id for one in store.queue.sessions()}
    return len(waiting | {session_id_of(row) for row in IndexedNotes(bank).rows()})


def show_session(bank: Bank, session_id: str) -> SessionShown:
    """Show a session, named by its id, the start of it, or its note.

    Raises BadInput for an unknown one, or a start that several have.
    """
    compress_now(bank)
    with opened(bank) as store:
        known = store.get_session(session_id) or _by_start(bank, store, session_id)
        pending = len(store.get_pending(known.session_id))
        title = store.title(known)
        notes = tuple(IndexedNotes(bank).written_in(known.session_id))
    return SessionShown(SCHEMA_VERSION, title, pending, known, notes)


def _by_start(bank: Bank, store: NoteStore, given: str) -> Session:
    name = one_line(given)
    rows = IndexedNotes(bank).rows()
    ids = dict.fromkeys(one.session_id for one in store.queue.sessions())
    ids |= dict.fromkeys(map(session_id_of, rows))
    at_path = [session_id_of(row) for row in rows if name in (row.key, row.key[: -len(".md")])]
    met = at_path or [one for one in ids if name and one.startswith(name)]
    if len(met) > 1:
        shown = ", ".join(one[:40] for one in met[:5])
        message = f"{name[:60]!r} starts {len(met)} sessions"
        raise BadInput(message, "say which: {ids}", ids=shown)
    return found(store, met[0] if met else name)


def _row(store: NoteStore, one: Session, title: str | None) -> SessionRow:
    return SessionRow(
        session_id=one.session_id,
        project=one.project,
        title=title or title_of(one),
        agent=one.agent,
        started_at=iso(one.started_at),
        ended_at=iso(one.ended_at) if one.ended_at else None,
        prompts=len(one.prompts),
        observations=len(one.observations),
        pending=len(store.get_pending(one.session_id)),
        path=one.path,
    )
