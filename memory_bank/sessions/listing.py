"""List the sessions of a bank, show one as a person reads it, and recover others.

A bank's private state is named by its id, which a rewritten first commit changes: sessions of a
former id are recovered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Annotated

from memory_bank.bank.bank import Bank
from memory_bank.bank.bank_id import former_ids, move_state
from memory_bank.base import NamedTuple
from memory_bank.base.errors import NoteNotFound, StorageFailed, UnreadableNote
from memory_bank.base.operation import Param, operation, topic
from memory_bank.search.index import View
from memory_bank.search.manifest import document_rows
from memory_bank.search.manifest.tables import links_of_sections
from memory_bank.sessions import queue_rows, views
from memory_bank.sessions.answers import (
    SCHEMA_VERSION,
    Recovered,
    SessionEntry,
    SessionRows,
    SessionShown,
)
from memory_bank.sessions.compress import compress_now
from memory_bank.sessions.days import count_contents, find_session, list_known_sessions
from memory_bank.sessions.note_format import FOLDER
from memory_bank.sessions.note_store import IndexedNotes
from memory_bank.sessions.queue import EventQueue
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
    return SessionRows(SCHEMA_VERSION, len(page), len(entries), page)


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
    return SessionShown(SCHEMA_VERSION, title, pending, session, notes)


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
    items = _items(session)
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
        lambda view: _facts(bank, view, document, session.summary, observations)
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


def _items(session: Session) -> list[tuple[Prompt | None, Observation | None]]:
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


def _facts(
    bank: Bank,
    view: View,
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
    return Recovered(SCHEMA_VERSION, tuple(ids), notes, tuple(kept_folders))
