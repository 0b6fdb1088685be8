"""The store of sessions as notes: what waits is in the queue, the rest is in Markdown."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress

from memory_bank.bank.bank import Bank
from memory_bank.base.documents import Document
from memory_bank.base.errors import BadInput, NoteExists, NoteNotFound, SecretFound, UnreadableNote
from memory_bank.notes.storage.store import Store
from memory_bank.search.manifest import document_rows
from memory_bank.search.manifest.entries import SESSION_ID, read_session_id
from memory_bank.sessions import note_format, note_reading, session_edit
from memory_bank.sessions.note_format import yield_paths
from memory_bank.sessions.note_reading import TYPE
from memory_bank.sessions.note_text import one_line
from memory_bank.sessions.queue import OBSERVATION_STORED, EventQueue
from memory_bank.sessions.records import (
    Event,
    Observation,
    Prompt,
    Session,
    Summary,
)
from memory_bank.sessions.redaction import Redact, redact_record

_COUNTS = ("input_tokens", "output_tokens", "redactions")


class IndexedNotes:
    """The notes of sessions, as the index knows them."""

    def __init__(self, bank: Bank) -> None:
        """Ask the index of a bank, which is updated first."""
        self._bank = bank

    def rows(self) -> list[Document]:
        """Return the rows of the notes of sessions that are not archived, the oldest first."""
        note_rows = self._bank.answer(
            lambda view: document_rows.find_by_field(view.manifest, "type", TYPE), None
        )
        return [row for row in note_rows if read_session_id(row)]

    def of_session(self, session_id: str) -> str:
        """Return the path of a session's note; empty if it has none."""
        rows = self._list_naming(session_id)
        return next((row.key for row in rows if read_session_id(row) == session_id), "")

    def written_in(self, session_id: str) -> list[str]:
        """Return the paths of the notes that an agent wrote in a session."""
        return [row.key for row in self._list_naming(session_id) if not read_session_id(row)]

    def _list_naming(self, session_id: str) -> list[Document]:
        """Return the rows of the notes that name a session."""
        key = session_id.casefold()
        return self._bank.answer(
            lambda view: document_rows.find_by_field(view.manifest, SESSION_ID, key)
        )

    def with_blocks(self, ids: Sequence[str]) -> dict[str, str]:
        """Map those of some block ids that a note has to its path."""
        return self._bank.answer(lambda view: document_rows.keys_with(view.manifest, ids))


class NoteStore:
    """Sessions as notes of a bank: see `SessionStore`.

    A note is written with the first observation or summary, or when `note_of` needs it; before, a
    session is in the queue only.
    """

    name = "notes"

    def __init__(
        self,
        store: Store,
        queue: EventQueue,
        notes: IndexedNotes,
        redact: Redact,
    ) -> None:
        """Write by the bank's `store`; `notes` finds them, `redact` removes secrets from a text."""
        self.queue = queue
        self._store = store
        self._notes = notes
        self._redact = redact

    def close(self) -> None:
        """Close the queue's database; it is reopened when needed."""
        self.queue.close()

    def create_session(self, session: Session) -> bool:
        """Store a new session; False if there is one of that id, which stays as it is.

        Raises BadInput for one that was forgotten.
        """
        session = session._replace(session_id=check_session_id(session.session_id))
        self.check_not_forgotten(session.session_id)
        if self._find_session(session.session_id) is not None:
            return False
        if not self.queue.create_session(session._replace(path="")):
            return False
        for prompt in session.prompts:
            self.queue.store_prompt(prompt)
        if session.observations or session.summary:
            self._write(session.session_id, session.observations, session.summary)
        return True

    def get_session(self, session_id: str) -> Session | None:
        """Return a session with all that belongs to it; None if there is none."""
        session_id = one_line(session_id)
        row = self.queue.session(session_id)
        note = self._note(session_id, row.path if row else "")
        if row is not None and note is not None and row.path != note.path:
            self.queue.update(session_id, note=note.path)
        return merge_session(row, note)

    def note_of(self, session_id: str) -> str:
        """Return the path of a session's note, which is written if there is none.

        Raises BadInput for an unknown session.
        """
        path = self._wanted(session_id).path
        if not path:
            self._write(session_id, (), None, make=True)
            path = self._wanted(session_id).path
        return path

    def title(self, session: Session) -> str:
        """Return the title of a session's note, or the one that a new note would have."""
        if session.path:
            with suppress(NoteNotFound, UnreadableNote):
                return self._store.read(session.path).title
        return note_format.session_title(session)

    def update_session(self, session: Session) -> None:
        """Store the end, tokens, redactions and git state of a session that exists.

        Raises BadInput for an unknown session.
        """
        former = self._wanted(session.session_id)
        changes = {name: getattr(session, name) for name in (*_COUNTS, "ended_at", "git")}
        self.queue.update(former.session_id, **changes)
        if former.path:
            changed = former._replace(**changes)
            self._store.change(former.path, lambda text: session_edit.set_state(text, changed))

    def store_prompt(self, prompt: Prompt) -> int:
        """Store a prompt and return its number, the next one if it has number 0."""
        session = self._wanted(prompt.session_id)
        return self.queue.store_prompt(prompt._replace(session_id=session.session_id))

    def get_prompts(self, session_id: str) -> list[Prompt]:
        """Return the prompts of a session, by number."""
        session = self.get_session(session_id)
        return list(session.prompts) if session else []

    def queue_pending(self, event: Event, key: str = "") -> int:
        """Keep an event until it is compressed, durably, and return its id.

        A second event of a session with the same `key` is not stored; the id is that of the first.
        Raises BadInput for a forgotten session.
        """
        event = event._replace(session_id=check_session_id(event.session_id))
        self.check_not_forgotten(event.session_id)
        return self.queue.queue(event, key)

    def get_pending(self, session_id: str = "", limit: int | None = None) -> list[Event]:
        """Return the events of a session, or of all, that are not compressed yet, oldest first."""
        return self.queue.pending(one_line(session_id), limit)

    def remove_pending(self, ids: Collection[int]) -> None:
        """Remove events whose observations are stored."""
        self.queue.remove(ids)

    def store_observation(self, observation: Observation) -> str:
        """Store an observation in its session, unless one of its id is there; return its id."""
        self.store_observations(observation.session_id, [observation])
        return observation.id

    def store_observations(
        self, session_id: str, observations: Sequence[Observation]
    ) -> list[Observation]:
        """Store observations of one session in one write; return those that were not there."""
        return self._write(session_id, observations, None)

    def get_observation(self, observation_id: str) -> Observation | None:
        """Return an observation; None if there is none."""
        return next(iter(self.get_observations([observation_id])), None)

    def get_observations(self, ids: Sequence[str]) -> list[Observation]:
        """Return those of some observations that exist, in the order of their ids."""
        paths = self._notes.with_blocks(ids)
        sessions = self._all(dict.fromkeys(paths.values()))
        observations = {
            observation.id: observation
            for session in sessions
            for observation in session.observations
        }
        return [
            observations[observation_id]
            for observation_id in dict.fromkeys(ids)
            if observation_id in observations
        ]

    def store_summary(self, summary: Summary) -> str:
        """Store the summary of a session in place of a former one; return its id."""
        self._write(summary.session_id, (), summary)
        return note_format.make_summary_id(one_line(summary.session_id))

    def get_summary(self, session_id: str) -> Summary | None:
        """Return the summary of a session; None if it has none."""
        session = self.get_session(session_id)
        return session.summary if session else None

    def check_not_forgotten(self, session_id: str) -> None:
        """Raise BadInput for a session that was forgotten."""
        if self.queue.forgotten(session_id):
            raise BadInput(f"session {session_id[:60]} was forgotten", "start one with another id")

    def _find_session(self, session_id: str) -> Session | None:
        """Return a session from the queue, else from its note, which the queue gets back."""
        row = self.queue.session(session_id)
        note = None if row else self._note(session_id)
        if note is not None:
            self.queue.create_session(note, announced=False)
            for prompt in note.prompts:
                self.queue.store_prompt(prompt)
        return row or note

    def _wanted(self, session_id: str) -> Session:
        session_id = check_session_id(session_id)
        self._find_session(session_id)
        session = self.get_session(session_id)
        if session is None:
            raise BadInput(f"there is no session {session_id[:60]!r}", "start it first")
        return session

    def _note(self, session_id: str, path: str = "") -> Session | None:
        """Return the session of a note: the one at `path`, else wherever it is now."""
        session = self._read(path) if path else None
        if session is None or session.session_id != session_id:
            path = self._notes.of_session(session_id)
            session = self._read(path) if path else None
        return session if session is not None and session.session_id == session_id else None

    def _read(self, path: str) -> Session | None:
        try:
            return note_reading.parse(path, self._store.read_bytes(path))
        except NoteNotFound:
            return None

    def _all(self, paths: Iterable[str]) -> Iterator[Session]:
        """Yield the sessions of some notes that can be read."""
        for path in paths:
            with suppress(UnreadableNote):
                if (session := self._read(path)) is not None:
                    yield session

    def _write(
        self,
        session_id: str,
        observations: Sequence[Observation],
        summary: Summary | None,
        *,
        make: bool = False,
    ) -> list[Observation]:
        """Add to the note of a session, which is made if there is none; return what is new.

        Without anything new, a note is made only if `make` says so.
        """
        session = self._wanted(session_id)
        path = session.path or next(yield_paths(session, observations, summary))
        with self._store.writing(path):
            session = self._wanted(session_id)
            there = {observation.id for observation in session.observations}
            new = [observation for observation in observations if observation.id not in there]
            if new or summary is not None or (make and not session.path):
                try:
                    self._put(session, new, summary, clean=lambda block: block)
                except SecretFound:
                    self._put_redacted(session, new, summary)
        for observation in new:
            self.queue.announce(
                OBSERVATION_STORED, session.session_id, observation_id=observation.id
            )
        if summary is not None:
            text = json.dumps(summary._asdict(), ensure_ascii=False, default=str)
            self.queue.update(session.session_id, summary=text)
        return new

    def _put(
        self,
        session: Session,
        new: Sequence[Observation],
        summary: Summary | None,
        clean: Callable[[str], str],
    ) -> None:
        if not session.path:
            self._create(session._replace(observations=tuple(new), summary=summary), clean)
            return
        path = session.path

        def edit(text: str) -> str:
            text = session_edit.add_prompts(path, text, session.prompts, clean)
            if summary is not None:
                text = session_edit.set_summary(path, text, summary, clean)
            text = session_edit.add_observations(path, text, new, clean)
            return session_edit.set_state(text, session)

        self._store.change(path, edit)

    def _put_redacted(
        self, session: Session, new: Sequence[Observation], summary: Summary | None
    ) -> None:
        """Write without the secrets that were not found before, since nothing may be lost."""
        whole = session._replace(observations=tuple(new), summary=summary)
        bare, count = redact_record(whole, self._redact)
        self._put(
            session._replace(prompts=bare.prompts, project=bare.project),
            bare.observations,
            bare.summary,
            clean=lambda block: self._redact(block)[0],
        )
        self.queue.add_counts(session.session_id, redactions=max(1, count))

    def _create(self, session: Session, clean: Callable[[str], str]) -> None:
        text = clean(note_format.render(session))
        for path in yield_paths(session, session.observations, session.summary):
            try:
                self._store.create(path, text)
            except NoteExists:
                continue
            self.queue.update(session.session_id, note=path)
            return
        raise NoteExists(f"all names for the note of session {session.session_id[:60]} are taken")


def check_session_id(session_id: str) -> str:
    """Return the id of a session on one line; raise BadInput for an empty or a long one."""
    line = one_line(session_id)
    if not line or len(line) > note_format.ID_LIMIT:
        raise BadInput(
            f"{line[:60]!r} is not the id of a session",
            f"give the one of the agent's program: 1 to {note_format.ID_LIMIT:d} characters",
        )
    return line


def merge_session(row: Session | None, note: Session | None) -> Session | None:
    """Return a session as the queue and its note tell it."""
    if row is None:
        return note
    if note is None:
        return row._replace(path="")
    prompts = {prompt.prompt_number: prompt for prompt in (*note.prompts, *row.prompts)}
    return note._replace(
        agent=note.agent or row.agent,
        ended_at=row.ended_at,
        git=note.git or row.git,
        prompts=tuple(prompts[number] for number in sorted(prompts)),
        last_prompt_number=max(prompts, default=0),
        **{name: max(getattr(row, name), getattr(note, name)) for name in _COUNTS},
    )
