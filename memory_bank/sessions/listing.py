"""List the sessions of a bank, also by day, show one as a person reads it, and recover others.

A bank's private state is named by its id, which a rewritten first commit changes: sessions of a
former id are recovered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from itertools import groupby
from typing import Annotated

from memory_bank.bank.bank import Bank
from memory_bank.bank.bank_id import former_ids, move_state
from memory_bank.base import NamedTuple
from memory_bank.base.documents import Document, PathProblem
from memory_bank.base.errors import BadInput, NoteNotFound, StorageFailed, UnreadableNote
from memory_bank.base.operation import Param, operation, topic
from memory_bank.notes.roots import SESSIONS
from memory_bank.search.index import IndexView
from memory_bank.search.manifest import document_rows
from memory_bank.search.manifest.entries import SessionCounts, read_session_id, session_counts
from memory_bank.search.manifest.link_rows import links_of_sections
from memory_bank.sessions import queue_rows, views
from memory_bank.sessions.answers import (
    Recovered,
    SessionEntry,
    SessionRows,
    SessionShown,
)
from memory_bank.sessions.compress import compress_now
from memory_bank.sessions.note_format import FOLDER
from memory_bank.sessions.note_reading import session_of_keys
from memory_bank.sessions.note_store import IndexedNotes, merge_session
from memory_bank.sessions.note_text import one_line
from memory_bank.sessions.queue import EventQueue
from memory_bank.sessions.queue_rows import parse_time
from memory_bank.sessions.records import PROMOTED_TO, Observation, Prompt, Session, Summary
from memory_bank.sessions.state import asked_project, find_known_session, open_store


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
    view=views.view_sessions,
)
def list_sessions(
    bank: Bank,
    limit: Annotated[int, Param("Most sessions", metavar="N", least=1)] = 20,
    *,
    project: Annotated[str, Param("Only sessions of this project", metavar="NAME")] = "",
) -> SessionRows:
    """List the sessions, the last started first.

    List the sessions, the last started first, of one project if given.
    """
    compress_now(bank)
    name = asked_project(bank, project).casefold()
    entries = [
        entry
        for entry in list_known_sessions(bank)
        if name in ("", entry.session.project.casefold()) and not entry.empty
    ]
    page = tuple(count_contents(bank, entries[:limit]))
    return SessionRows(len(page), len(entries), page)


def count_sessions(bank: Bank) -> int:
    """Count the sessions, those included that have no note yet."""
    return len(list_known_sessions(bank))


def show_session(bank: Bank, session_id: str | None = None) -> SessionShown:
    """Return a session, named by its id, the start of it, or its note; without one the last.

    Raises BadInput for an unknown one, or a start that several have; NoteNotFound without any.
    """
    compress_now(bank)
    with open_store(bank) as store:
        session = store.get_session(session_id) if session_id else None
        if session is None:
            session = find_known_session(store, _find_session_id(bank, session_id))
        pending = len(store.get_pending(session.session_id))
        title = store.title(session)
        notes = tuple(IndexedNotes(bank).written_in(session.session_id))
    return SessionShown(title, pending, session, notes)


def names_session(bank: Bank, name: str) -> bool:
    """Tell whether a session has that id, a start of it, or that note."""
    compress_now(bank)
    return find_session(list_known_sessions(bank), name) is not None


def _find_session_id(bank: Bank, text: str | None) -> str:
    """Return the id of the session that a name means, of the last one without a name."""
    entries = list_known_sessions(bank)
    if text is not None:
        named = find_session(entries, text)
        return named.session_id if named else text
    for entry in entries:
        if not entry.empty:
            return entry.session_id
    raise NoteNotFound("no session has begun yet")


PAGE = 200
"""Observations, and prompts without any, of one page."""


class SessionView(NamedTuple):
    """A session, or one page of a long one."""

    entry: SessionEntry
    session: Session
    steps: tuple[tuple[Prompt | None, tuple[Observation, ...]], ...]
    """Prompts with what they led to; None for what happened before the first one."""
    page: int
    pages: int
    promoted: Mapping[str, str]
    """The paths of the notes that were made of observations and the summary, by their ids."""
    note_paths: Mapping[str, str]
    """Those of the files that are notes, by their paths below the project."""
    notes: tuple[str, ...]
    """Paths of the notes that an agent wrote in it."""
    problem: str
    """Why its note can't be read; empty if it can."""


def view_session(bank: Bank, name: str, *, page: int = 1, at: str = "") -> SessionView:
    """Return a session, named by its id, the start of it, or the path of its note.

    Of a long one, `page` says which part, or `at` the id of an observation in it. Raises
    NoteNotFound for an unknown session, BadInput for a start that several have.
    """
    compress_now(bank)
    entry = find_session(list_known_sessions(bank), name)
    session_id = entry.session_id if entry else ""
    with open_store(bank) as store:
        problem = ""
        try:
            session = store.get_session(session_id)
        except UnreadableNote as error:
            session, problem = store.queue.session(session_id), error.message
    if entry is None or session is None:
        raise NoteNotFound(f"there is no session {name[:60]!r}", "look for it in the list")
    items = _list_items(session)
    pages = max(1, -(-len(items) // PAGE))
    if at:
        places = (
            place
            for place, (_, observation) in enumerate(items)
            if observation and observation.id == at
        )
        page = next(places, 0) // PAGE + 1
    page = min(max(page, 1), pages)
    page_items = items[(page - 1) * PAGE :][:PAGE]
    document = entry.document.number if entry.document else None
    observations = [observation for _, observation in page_items if observation]
    promoted, note_paths = bank.read(
        lambda view: _read_facts(bank, view, document, session.summary, observations)
    )
    steps = tuple(
        (prompt, tuple(observation for _, observation in group if observation))
        for prompt, group in groupby(page_items, key=lambda item: item[0])
    )
    return SessionView(
        entry=count_contents(bank, [entry])[0],
        session=session,
        steps=steps,
        page=page,
        pages=pages,
        promoted=promoted,
        note_paths=note_paths,
        notes=tuple(IndexedNotes(bank).written_in(session.session_id)),
        problem=problem,
    )


def _list_items(session: Session) -> list[tuple[Prompt | None, Observation | None]]:
    """Return the observations by prompt and time, each with its prompt; prompts without any too."""
    prompts = {prompt.prompt_number: prompt for prompt in session.prompts}
    of_prompt: dict[int, list[Observation]] = {number: [] for number in (0, *prompts)}
    for observation in sorted(
        session.observations, key=lambda observation: (observation.created_at, observation.id)
    ):
        of_prompt[observation.prompt_number if observation.prompt_number in prompts else 0].append(
            observation
        )
    items: list[tuple[Prompt | None, Observation | None]] = []
    for number in sorted(of_prompt):
        items += [(prompts.get(number), observation) for observation in of_prompt[number]]
        if number and not of_prompt[number]:
            items.append((prompts[number], None))
    return items


def _read_facts(
    bank: Bank,
    view: IndexView,
    document: int | None,
    summary: Summary | None,
    observations: Sequence[Observation],
) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Return what observations were promoted to, and the paths in the bank of files of notes."""
    files = {
        file
        for observation in observations
        for file in (*observation.files_read, *observation.files_modified)
    }
    files |= {*summary.files_read, *summary.files_edited} if summary else set()
    prefix = bank.layout.prefix
    notes = {
        file: file.removeprefix(prefix)
        for file in files
        if file.startswith(prefix)
        and document_rows.document_at(view.manifest, file.removeprefix(prefix)) is not None
    }
    promoted = {} if document is None else links_of_sections(view.manifest, document, PROMOTED_TO)
    return promoted, notes


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


def former_state(bank: Bank) -> str:
    """Say that this folder has sessions under another id; empty if it has none."""
    ids = former_ids(bank.layout, bank.id)
    if not ids:
        return ""
    folders = ", ".join(str(bank.layout.state(bank_id)) for bank_id in ids)
    return (
        "this folder had another id, because its repository's first commit was rewritten or it was"
        f" another repository; sessions of that time are in {folders}"
    )


@operation(
    "session recover",
    why="""
    The private state of a bank is named by the first commit of its repository. If that was
    rewritten (`git filter-repo`, `git commit --amend` of it), notes of former sessions are no
    longer found. This moves them, and what waits of these sessions, to the place of the others.
    Only do it if the sessions that `doctor` names are of this project.
    """,
    examples=(("memory-bank session recover", "bring back the sessions that `doctor` names"),),
    view=views.view_recovered,
)
def recover(bank: Bank) -> Recovered:
    """Bring back sessions after a rewrite of the first commit.

    Move the notes of sessions and what waits of them from former ids of the bank's folder.

    A note that the bank has, too, stays where it is. Raises StorageFailed.
    """
    ids = former_ids(bank.layout, bank.id)
    notes, kept_folders = 0, list[str]()
    with bank.lock, bank.store.writing(f"{FOLDER}/recovered.md"):
        queue = EventQueue(bank.layout.state(bank.id))
        for bank_id in ids:
            before = bank.layout.state(bank_id) / "notes"
            paths = list(before.rglob("*.md"))
            try:
                for session_id in queue_rows.list_forgotten(before.parent):
                    queue_rows.add_forgotten(queue.file.parent, session_id)
                queue.take_over(before.parent)
                move_state(bank.layout, bank_id, bank.id)
            except OSError as error:
                raise StorageFailed(
                    f"{before} can't be moved: {error.strerror}", "move the files yourself"
                ) from error
            files = [str(file) for file in paths if file.exists()]
            notes += len(paths) - len(files)
            kept_folders += files
        for session_id in queue_rows.list_forgotten(queue.file.parent) if ids else ():
            queue.remove_session(session_id)  # forgotten here, but not under the former id
        queue.close()
    if ids:
        bank.catch_up()
    return Recovered(tuple(ids), notes, tuple(kept_folders))


@dataclass(frozen=True, slots=True)
class SessionTimeline:
    """One page of the sessions by day, the newest first."""

    total: int
    """Number of sessions that meet the conditions."""
    offset: int
    count: int
    days: tuple[tuple[str, tuple[SessionEntry, ...]], ...]
    """Days in UTC with the sessions that started on them."""
    agents: Mapping[str, int]
    """Number of sessions of each agent, whatever the conditions are, the most first; without name:
    unknown."""
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
        session = merge_session(outline and outline.session, document and _make_session(document))
        if session is not None:
            entries.append(SessionEntry(session, outline, document))
    return sorted(
        entries,
        key=lambda entry: (entry.session.started_at, entry.session_id),
        reverse=True,
    )


def _make_session(document: Document) -> Session:
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
    by_day = groupby(count_contents(bank, page), key=lambda entry: entry.started_at[:10])
    agents = sorted(entry.session.agent for entry in entries)
    projects = sorted(entry.session.project for entry in entries)
    return SessionTimeline(
        total=len(chosen),
        offset=max(offset, 0),
        count=len(page),
        days=tuple((day, tuple(sessions)) for day, sessions in by_day),
        agents=dict(Counter(agents).most_common()),
        projects=dict(Counter(projects).most_common()),
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


def unreadable_notes(view: IndexView) -> tuple[PathProblem, ...]:
    """Return the files among the notes of sessions that can't be read."""
    problems = map(PathProblem._make, document_rows.list_unindexed(view.manifest))
    return tuple(problem for problem in problems if problem.path.startswith(SESSIONS))


def _start_of(text: str) -> datetime | None:
    if not text.strip():
        return None
    try:
        day = date.fromisoformat(text.strip())
    except ValueError:
        raise BadInput(f"{text[:40]!r} is no day", "write it as 2026-11-23") from None
    return datetime(day.year, day.month, day.day, tzinfo=UTC)
