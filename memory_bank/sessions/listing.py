"""List the sessions of a bank, and show one as a person reads it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Annotated, NamedTuple

from memory_bank.bank.bank import Bank
from memory_bank.bank.open_index import View
from memory_bank.base.dates import iso
from memory_bank.base.errors import BadInput, NoteNotFound, UnreadableNote
from memory_bank.base.operation import Param, operation, topic
from memory_bank.base.text import estimate
from memory_bank.search.manifest import document_rows
from memory_bank.search.manifest.document_rows import DocumentRow
from memory_bank.search.manifest.entries import session_id_of
from memory_bank.search.manifest.tables import SessionCounts, links_of_sections, session_counts
from memory_bank.sessions import shown
from memory_bank.sessions.answers import (
    SCHEMA_VERSION,
    SessionRow,
    SessionRows,
    SessionShown,
)
from memory_bank.sessions.compress import compress_now
from memory_bank.sessions.days import SessionEntry, entry, unreadable_notes
from memory_bank.sessions.notes import note_format
from memory_bank.sessions.notes.note_format import title_of
from memory_bank.sessions.notes.note_store import NoteStore
from memory_bank.sessions.notes.note_text import one_line
from memory_bank.sessions.queue_rows import Outline
from memory_bank.sessions.records import PROMOTED_TO, Observation, Prompt, Session
from memory_bank.sessions.state import IndexedNotes, found, opened


@operation(
    "session list",
    why="""
    Lists the sessions of agents, the last started first, with the number of prompts, of
    observations and of events that wait to be compressed.
    """,
    examples=(
        ("memory-bank session list", "the last 20 sessions"),
        ("memory-bank session list --project shop --limit 5", "the last five of one project"),
    ),
    show=shown.listed,
)
def list_sessions(
    bank: Bank,
    limit: Annotated[int, Param("Most sessions", metavar="N", least=1)] = 20,
    *,
    project: Annotated[str, Param("Only sessions of this project", metavar="NAME")] = "",
    offset: Annotated[int, Param("Skip the first N", metavar="N", least=0)] = 0,
) -> SessionRows:
    """List the sessions, the last started first.

    List the sessions, the last started first, of one project if given.
    """
    compress_now(bank)
    with opened(bank) as store:
        started = _started(bank, store)
        titles = {session_id_of(row): row.title for row in IndexedNotes(bank).rows()}
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


def _started(bank: Bank, store: NoteStore) -> dict[str, tuple[float, str]]:
    """Return when each session was started, and its project; none that ended without anything."""
    started = {
        one.session_id: (one.started_at, one.project)
        for one in store.queue.outlines()
        if not one.ended_at or one.prompts or one.pending or one.summary or one.note
    }
    for row in IndexedNotes(bank).rows():
        named = str((row.data.get("extra") or {}).get("project") or "")
        started[session_id_of(row)] = row.created, named
    return started


def count_sessions(bank: Bank) -> int:
    """Count the sessions, those included that have no note yet."""
    with opened(bank) as store:
        waiting = {one.session_id for one in store.queue.sessions()}
    return len(waiting | {session_id_of(row) for row in IndexedNotes(bank).rows()})


@operation(
    "session show",
    why="""
    Shows a session: its prompts, summary and observations, after compressing what waits. Name it by
    its id, the start of the id, or its note, which `memory-bank show` prints as it is. Without one,
    shows the session that was started last.
    """,
    examples=(
        ("memory-bank session show", "the last session"),
        ("memory-bank session show 7f3c2d10", "the session whose id starts so"),
    ),
    show=shown.session,
)
def show_session(
    bank: Bank,
    session_id: Annotated[str | None, Param(argument=True, metavar="[SESSION]")] = None,
) -> SessionShown:
    """Show the prompts, the summary and the observations of a session.

    Show a session, named by its id, the start of it, or its note; without one the last.

    Raises BadInput for an unknown one, or a start that several have; NoteNotFound without any.
    """
    compress_now(bank)
    with opened(bank) as store:
        if session_id is None:
            started = _started(bank, store)
            if not started:
                raise NoteNotFound("no session has begun yet")
            session_id = max((when, name) for name, (when, _) in started.items())[1]
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


PAGE = 200
"""Observations, and prompts without any, of one page."""


class FileShown(NamedTuple):
    """A file that was read or changed."""

    path: str
    note: str
    """The path of the note that it is; empty if it is none."""


class ObservationShown(NamedTuple):
    """An observation with its files, and what became of it."""

    observation: Observation
    read: tuple[FileShown, ...]
    changed: tuple[FileShown, ...]
    read_tokens: int
    promoted_to: str
    """The path of the note that was made of it; empty if there is none."""


class PromptStep(NamedTuple):
    """A prompt and the observations that it led to."""

    prompt: Prompt | None
    """None for what happened before the first prompt."""
    observations: tuple[ObservationShown, ...]


@dataclass(frozen=True, slots=True)
class SessionView:
    """A session, or one page of a long one."""

    entry: SessionEntry
    session: Session
    steps: tuple[PromptStep, ...]
    page: int
    pages: int
    read: tuple[FileShown, ...]
    """Of the summary, as `changed`."""
    changed: tuple[FileShown, ...]
    summary_promoted_to: str
    notes: tuple[str, ...]
    """Paths of the notes that an agent wrote in it."""
    problem: str
    """Why its note can't be read; empty if it can."""


class _SessionSources(NamedTuple):
    """What the queue, the index and the note know of a session."""

    session: Session
    row: Outline | None
    document: DocumentRow | None
    notes: tuple[str, ...]
    problem: str


def view_session(bank: Bank, name: str, *, page: int = 1, at: str = "") -> SessionView:
    """Return a session, named by its id, the start of it, or the path of its note.

    Of a long one, `page` says which part, or `at` the id of an observation in it. Raises
    NoteNotFound for an unknown session, BadInput for a start that several have.
    """
    compress_now(bank)
    found = _read(bank, name)
    session = found.session
    items = _items(session)
    pages = max(1, -(-len(items) // PAGE))
    if at:
        places = (place for place, (_, one) in enumerate(items) if one and one.id == at)
        page = next(places, 0) // PAGE + 1
    page = min(max(page, 1), pages)
    shown = items[(page - 1) * PAGE :][:PAGE]
    facts = bank.read(lambda view: _facts(bank, view, found, [one for _, one in shown if one]))
    steps = tuple(
        PromptStep(prompt, tuple(_shown(one, facts, session) for _, one in some if one))
        for prompt, some in groupby(shown, key=lambda item: item[0])
    )
    said = session.summary
    return SessionView(
        entry=entry(bank, found.row, found.document, facts.counts, facts.damaged),
        session=session,
        steps=steps,
        page=page,
        pages=pages,
        read=_files(said.files_read if said else (), facts),
        changed=_files(said.files_edited if said else (), facts),
        summary_promoted_to=facts.promoted.get(said.id, "") if said else "",
        notes=found.notes,
        problem=found.problem,
    )


def _read(bank: Bank, name: str) -> _SessionSources:
    with opened(bank) as store:
        notes = IndexedNotes(bank)
        rows = {session_id_of(row): row for row in notes.rows()}
        outlines = {one.session_id: one for one in store.queue.outlines()}
        session_id = _named(one_line(name), rows, outlines)
        row, document = outlines.get(session_id), rows.get(session_id)
        problem = ""
        try:
            session = store.get_session(session_id)
        except UnreadableNote as error:
            session, problem = store.queue.session(session_id), error.message
        if session is None:
            raise NoteNotFound(
                f"there is no session {session_id[:60]!r}", "look for it in the list"
            )
        written = tuple(notes.written_in(session_id))
    return _SessionSources(session, row, document, written, problem)


def _named(name: str, rows: Mapping[str, DocumentRow], others: Collection[str]) -> str:
    """Return the id of a session by what a person may call it."""
    ids = dict.fromkeys((*rows, *others))
    if name in ids:
        return name
    at_path = [one for one, row in rows.items() if name in (row.key, row.key[: -len(".md")])]
    met = at_path or [one for one in ids if name and one.startswith(name)]
    if len(met) > 1:
        raise BadInput(f"{name[:60]!r} starts {len(met)} sessions", "look for it in the list")
    if not met:
        raise _unknown(name)
    return met[0]


def _unknown(name: str) -> NoteNotFound:
    return NoteNotFound(f"there is no session {name[:60]!r}", "look for it in the list")


def _items(session: Session) -> list[tuple[Prompt | None, Observation | None]]:
    """Return the observations by prompt and time, each with its prompt; prompts without any too."""
    prompts = {one.prompt_number: one for one in session.prompts}
    of_prompt: dict[int, list[Observation]] = {number: [] for number in (0, *prompts)}
    for one in sorted(session.observations, key=lambda one: (one.created_at, one.id)):
        of_prompt[one.prompt_number if one.prompt_number in prompts else 0].append(one)
    items: list[tuple[Prompt | None, Observation | None]] = []
    for number in sorted(of_prompt):
        items += [(prompts.get(number), one) for one in of_prompt[number]]
        if number and not of_prompt[number]:
            items.append((prompts[number], None))
    return items


class _Facts(NamedTuple):
    counts: SessionCounts
    damaged: frozenset[str]
    promoted: Mapping[str, str]
    notes: Mapping[str, str]
    """Files that are notes, mapped to their paths in the bank."""


def _facts(bank: Bank, view: View, found: _SessionSources, shown: Sequence[Observation]) -> _Facts:
    said = found.session.summary
    files = {file for one in shown for file in (*one.files_read, *one.files_modified)}
    files |= {*said.files_read, *said.files_edited} if said else set()
    prefix = bank.layout.prefix
    notes = {
        file: file.removeprefix(prefix)
        for file in files
        if file.startswith(prefix)
        and document_rows.document_at(view.manifest, file.removeprefix(prefix)) is not None
    }
    number = found.document.number if found.document else None
    return _Facts(
        SessionCounts() if number is None else session_counts(view.manifest, [number])[number],
        frozenset(one.path for one in unreadable_notes(view)),
        {} if number is None else links_of_sections(view.manifest, number, PROMOTED_TO),
        notes,
    )


def _shown(one: Observation, facts: _Facts, session: Session) -> ObservationShown:
    here = session.git.repository_id if session.git else ""
    return ObservationShown(
        one,
        _files(one.files_read, facts),
        _files(one.files_modified, facts),
        estimate(note_format.observation_block(one, here)),
        facts.promoted.get(one.id, ""),
    )


def _files(paths: Iterable[str], facts: _Facts) -> tuple[FileShown, ...]:
    return tuple(FileShown(path, facts.notes.get(path, "")) for path in paths)


topic(
    "session",
    "List, show and end the sessions of agents.",
    group="Sessions",
    why="""
    A session is one agent's working period, kept as a note: what was asked for, what was done and
    learned, and a summary. Without a subcommand, lists the sessions.
    """,
    examples=(("memory-bank session", "list the last sessions"),),
    default="session list",
    options=True,
)
