"""Compress the events of sessions that wait, each into exactly one observation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from blake3 import blake3

from memory_bank.bank.bank import Bank
from memory_bank.base.errors import Busy, MemoryBankError, StorageFailed
from memory_bank.base.locks import hold_lock
from memory_bank.base.operation import Param, operation
from memory_bank.git import repository
from memory_bank.sessions import views
from memory_bank.sessions.answers import Compression
from memory_bank.sessions.note_format import FOLDER, settle_observation
from memory_bank.sessions.note_store import NoteStore
from memory_bank.sessions.records import Event, Prompt, Session
from memory_bank.sessions.state import bank_project, git_state, git_state_at, open_store

if TYPE_CHECKING:
    from memory_bank.sessions.compression.modes import Sample

_FOLDER = "compressing"

_DIGITS = 12
"""Hexadecimal digits of an observation's id."""

_WAIT = 20.0
"""Seconds that a person waits for a hook that compresses: a plain choice."""

_IMMEDIATE = ("local", "none")
"""Modes that take no time, so that a query may wait for them."""


def make_observation_id(session_id: str, batch: str, number: int) -> str:
    """Return the id of one of the observations of a batch of events."""
    name = f"{session_id}\0{batch}\0{number}".encode("utf-8", "replace")
    return f"obs-{blake3(name).hexdigest()[:_DIGITS]}"


@operation(
    "session compress",
    why="""
    Makes observations of the events that wait, of all sessions or of one. Hooks, ends of sessions
    and queries about sessions do it by themselves.
    """,
    examples=(("memory-bank session compress", "all sessions"),),
    view=views.view_compression,
)
def compress(
    bank: Bank,
    session_id: Annotated[str, Param(argument=True, metavar="[SESSION]")] = "",
    *,
    wait: float = _WAIT,
    sample: Sample | None = None,
) -> Compression:
    """Compress the events that wait into observations.

    Compress the events that wait, of one session or of all, into observations in their notes.

    One process at a time does it; if another one is at it for longer than `wait` seconds, nothing
    is done. A process that was killed in between leaves neither an event behind nor an
    observation twice. `sample` asks a client's model, for the mode `client`.
    """
    compression = Compression()
    with hold_compression(bank, wait) as is_alone:
        compression.busy = not is_alone
        if is_alone:
            for waiting in _list_waiting(bank, session_id):
                try:
                    _compress_session(bank, waiting, sample, compression)
                except MemoryBankError as error:
                    compression.problems.append(f"session {waiting[:60]}: {error.message}")
    return compression


def compress_now(bank: Bank) -> None:
    """Compress before a query what can be compressed at once, so that it is found.

    The query is answered without it where the queue can't be used.
    """
    if not bank.settings.memory.enabled or bank.settings.compression.mode not in _IMMEDIATE:
        return
    try:
        with open_store(bank) as store:
            waits = bool(store.queue.waiting())
        if waits:
            compress(bank, wait=0)
    except (StorageFailed, Busy) as error:
        bank.add_notice(f"what waits in the queue of sessions is not told: {error.message}")


@contextmanager
def hold_compression(bank: Bank, wait: float) -> Iterator[bool]:
    """Hold the lock of compression; False if another process has it."""
    folder = bank.layout.state(bank.id) / _FOLDER
    lock = hold_lock(
        folder, wait=wait, make=lambda: folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    )
    try:
        lock.__enter__()
    except Busy:
        yield False
        return
    try:
        yield True
    finally:
        lock.__exit__(None, None, None)


def _list_waiting(bank: Bank, session_id: str) -> list[str]:
    with open_store(bank) as store:
        events = store.get_pending(session_id)
        firsts = {event.session_id: event for event in reversed(events)}
    return [text for text, event in firsts.items() if _is_here(bank, event)]


def _is_here(bank: Bank, event: Event) -> bool:
    """Tell whether an event's session has its note here.

    Private notes are shared by all work trees; those in the project are in the work tree of their
    session.
    """
    if not event.cwd or bank.roots.is_private(f"{FOLDER}/new.md"):
        return True
    tree, here = (
        repository.find_worktree(Path(event.cwd)),
        repository.find_worktree(bank.layout.project),
    )
    return tree is None or here is None or tree == here


def _compress_session(
    bank: Bank, session_id: str, sample: Sample | None, compression: Compression
) -> None:
    """Compress the events of one session, batch by batch, those of a killed process first."""
    limit = bank.settings.compression.max_batch_tokens
    with open_store(bank) as store:
        unfinished = store.queue.unfinished(session_id)
    for name, events in unfinished:
        _compress_batch(bank, name, events, sample, compression)
    while True:
        with open_store(bank) as store:
            name, events = store.queue.mark_batch(session_id, limit)
        if not name:
            return
        _compress_batch(bank, name, events, sample, compression)


def _compress_batch(
    bank: Bank, name: str, events: Sequence[Event], sample: Sample | None, compression: Compression
) -> None:
    """Write the observations of a batch in one step, then remove its events."""
    with open_store(bank) as store:
        session = _find_session(bank, store, events)
        first_id = make_observation_id(session.session_id, name, 0)
        if first_id in {observation.id for observation in session.observations}:
            store.remove_pending([event.id for event in events])
            return
    from memory_bank.sessions.compression import modes  # start-up: mostly nothing waits

    root = _find_project_folder(bank, events)
    new_observations, reason = modes.compress(
        events,
        prompts=_list_prompts(session, events),
        settings=bank.settings.compression,
        project_root=root,
        before=session.observations,
        sample=sample,
    )
    if reason and reason not in compression.fallback_reasons:
        compression.fallback_reasons.append(reason)
        ours = reason.partition(": ")[0]  # what a program said follows
        bank.add_notice(f"events of sessions were compressed by rules: {ours}")
    observations = [
        settle_observation(
            observation._replace(
                id=make_observation_id(session.session_id, name, number),
                session_id=session.session_id,
                project=session.project,
                git=git_state_at(session, observation.created_at, root or bank.layout.project),
            )
        )
        for number, observation in enumerate(new_observations)
    ]
    with open_store(bank) as store:
        stored = store.store_observations(session.session_id, observations)
        store.remove_pending([event.id for event in events])
    compression.observations += (observation.id for observation in stored)
    compression.events += len(events)


def _find_session(bank: Bank, store: NoteStore, events: Sequence[Event]) -> Session:
    """Return the session of some events; one that the queue has lost starts with them."""
    first = events[0]
    session = store.get_session(first.session_id)
    if session is None:
        store.create_session(Session(first.session_id, bank_project(bank), first.created_at))
        session = store.get_session(first.session_id)
    assert session is not None  # noqa: S101  (narrows the type)
    return session


def _list_prompts(session: Session, events: Sequence[Event]) -> list[Prompt]:
    numbers = {event.prompt_number for event in events}
    return [prompt for prompt in session.prompts if prompt.prompt_number in numbers]


def _find_project_folder(bank: Bank, events: Sequence[Event]) -> Path | None:
    """Return the project's folder in the work tree in which the events happened."""
    project = bank.layout.project
    cwd = next((event.cwd for event in events if event.cwd), "")
    here, there = (
        repository.find_worktree(project),
        repository.find_worktree(Path(cwd)) if cwd else None,
    )
    if here is None or there is None or here == there:
        return project
    git_states = git_state(here), git_state(there)
    if (
        git_states[0]
        and git_states[1]
        and git_states[0].repository_id == git_states[1].repository_id
    ):
        return there / project.relative_to(here)
    return project
