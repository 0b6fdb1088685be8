"""Forget a note, an observation or a session: remove it from the files, the queue and the logs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from memory_bank.bank import open_index
from memory_bank.bank.open_index import View
from memory_bank.base.errors import MemoryBankError, UnreadableNote
from memory_bank.memory.forgetting.forgotten import Removal
from memory_bank.notes import files, parsing, removal
from memory_bank.notes.roots import NoteRoot
from memory_bank.search.manifest import document_rows
from memory_bank.search.manifest.entries import session_id_of
from memory_bank.search.manifest.link_rows import incoming
from memory_bank.sessions import forgotten_sessions, note_reading, session_edit
from memory_bank.sessions.compress import observation_id
from memory_bank.sessions.records import Session
from memory_bank.sessions.state import IndexedNotes, opened


class File(NamedTuple):
    """A file of a note, in a folder of notes or in its trash."""

    root: NoteRoot
    path: str

    def read(self) -> bytes:
        """Return its bytes; none if it is gone."""
        return files.read_in(self.root.folder, self.path) or b""


def session_of(path: str, data: bytes) -> Session | None:
    """Return the session of a note; None for another note, or a file that can't be read."""
    with suppress(UnreadableNote):
        return note_reading.parse(path, data)
    return None


def files_with(run: Removal, text: str) -> Iterator[tuple[File, bytes]]:
    """Yield the notes, also those in the trash, whose bytes have an id."""
    wanted = text.encode("utf-8", "replace")
    for root in run.bank.roots.written():
        for path in list(removal.paths(root.folder)):
            if removal.is_note(path):
                data = File(root, path).read()
                if wanted in data:
                    yield File(root, path), data


def files_of_session(run: Removal, session_id: str) -> list[File]:
    """Return the notes of a session, also those in the trash."""
    found = []
    for file, data in files_with(run, session_id):
        session = session_of(file.path, data)
        if session is not None and session.session_id == session_id:
            found.append(file)
    return found


def forget_session(run: Removal, session_id: str) -> list[str]:
    """Remove all of a session; return the paths of its notes.

    Its id stays in a list, so that neither hooks nor an import store it again.
    """
    if not run.dry_run:
        forgotten_sessions.add(run.state, session_id)
    with opened(run.bank) as store:
        queue = store.queue
        number = len(queue.pending(session_id)) + len(queue.prompts(session_id))
        number += queue.session(session_id) is not None
        run.found(str(queue.file), "queue", number)
        if not run.dry_run:
            queue.remove_session(session_id)
    for path in IndexedNotes(run.bank).written_in(session_id):
        run.left(path, "it was written in the session, and stays")
    return remove_files(run, files_of_session(run, session_id))


def files_of_note(run: Removal, path: str) -> list[File]:
    """Return the file of a note and its versions in the trash, by its path and its id."""
    row = run.bank.answer(lambda view: open_index.note_at(view.manifest, path))
    home = run.bank.roots.home(path)
    found = [File(home, path)] if row is not None else []
    for root in run.bank.roots.written():
        for one in removal.paths(root.folder):
            if removal.is_trashed(one) and removal.is_note(one):
                file = File(root, one)
                same = one.split("/", 2)[2] == path
                if same or (row and row.id and _id_of(file) == row.id):
                    found.append(file)
    return found


def _id_of(file: File) -> str:
    with suppress(UnreadableNote):
        return parsing.front_matter(file.read()).id
    return ""


def remove_files(run: Removal, found: Sequence[File]) -> list[str]:
    """Remove notes for good, with what logs know of them; return their paths in the bank."""
    bank = run.bank
    live = [file.path for file in found if not removal.is_trashed(file.path)]
    for path in live:
        _add_links(run, path)
    known = bank.answer(lambda view: [_known_as(view, path) for path in live])
    with bank.store.writing():
        for file in found:
            kind = "trash" if removal.is_trashed(file.path) else "note"
            run.found(file.path, kind, 1)
            if not run.dry_run:
                bank.store.enter(file.root)
                removal.remove_file(file.root.folder, file.path)
    names = list(dict.fromkeys([*known, *(file.path for file in found)]))
    for log in () if run.dry_run else bank.logs.all():
        if failed := log.forget(names):
            run.left(str(log.file), failed)
    return live


def _known_as(view: View, path: str) -> str:
    row = document_rows.document_at(view.manifest, path)
    return row.known_as if row else path


def _add_links(run: Removal, path: str) -> None:
    """Name the notes that link to one: what they say of it, or were made of, stays."""

    def sources(view: View) -> list[str]:
        row = document_rows.document_at(view.manifest, path)
        links = incoming(view.manifest, row.number) if row else []
        return sorted({link.source_key for link in links} - {path})

    for source in run.bank.answer(sources):
        run.left(source, f"it links to {path}, and may say what that said")


def files_of_observation(run: Removal, wanted: str) -> list[File]:
    """Return the notes that have an observation, also those in the trash."""
    found = []
    for file, data in files_with(run, f"^{wanted}"):
        session = session_of(file.path, data)
        if session is not None and any(one.id == wanted for one in session.observations):
            found.append(file)
    return found


def forget_observation(run: Removal, wanted: str, found: Sequence[File]) -> list[str]:
    """Remove an observation from its notes, and its events; return the paths of the notes."""
    _remove_events(run, wanted, found)
    with run.bank.store.writing():
        for file in found:
            kind = "trash" if removal.is_trashed(file.path) else "note"
            try:
                if not run.dry_run:
                    run.bank.store.enter(file.root)
                    removal.change(
                        file.root.folder,
                        file.path,
                        lambda text, path=file.path: session_edit.without_observation(  # type: ignore[misc]
                            path, text, wanted
                        ),
                    )
                run.found(file.path, kind, 1)
            except MemoryBankError as error:
                run.left(file.path, error.message)
    for path in (file.path for file in found if not removal.is_trashed(file.path)):
        _add_links(run, path)
        run.left(f"{path}: prompts and summary", "they stay: forget the session, or a text")
    return [file.path for file in found]


def _remove_events(run: Removal, wanted: str, found: Sequence[File]) -> None:
    """Remove the events of the observation that a killed process has left in the queue."""
    ids = {session.session_id for file in found if (session := session_of(file.path, file.read()))}
    with opened(run.bank) as store:
        if not run.dry_run and store.queue.file.exists():
            store.queue.remove_news(wanted)
        for session_id in ids:
            for batch, events in store.queue.unfinished(session_id):
                made = {observation_id(session_id, batch, n) for n in range(len(events))}
                if wanted in made:
                    run.found(str(store.queue.file), "queue", len(events))
                    if not run.dry_run:
                        store.remove_pending([event.id for event in events])


def session_ids(view: View, name: str) -> list[str]:
    """Return the ids of indexed sessions that are exactly a name."""
    rows = document_rows.with_field(view.manifest, "session_id", name.casefold())
    return [one for row in rows if (one := session_id_of(row)) == name]
