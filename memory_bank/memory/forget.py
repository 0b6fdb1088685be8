"""Forget a text, a note, an observation or a session, everywhere that this program keeps it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Annotated

from memory_bank.bank import open_index
from memory_bank.bank.bank import Bank
from memory_bank.base import NamedTuple, lazy_pattern
from memory_bank.base.errors import (
    BadName,
    Busy,
    Conflict,
    Hint,
    NoteNotFound,
    NoteReadOnly,
    StorageFailed,
    UnreadableNote,
)
from memory_bank.base.filenames import NOTE_SUFFIXES
from memory_bank.base.operation import Param, operation
from memory_bank.base.screen import FOUND, Call
from memory_bank.memory import forget_report, forgotten_texts
from memory_bank.memory.forget_report import NOTE, OBSERVATION, SESSION, TEXT, Forgotten, Removal
from memory_bank.notes import names, parsing
from memory_bank.notes.roots import NoteRoot
from memory_bank.notes.storage import files
from memory_bank.search.index import IndexView
from memory_bank.search.manifest import document_rows, link_rows
from memory_bank.search.manifest.entries import read_session_id
from memory_bank.search.manifest.link_rows import read_incoming
from memory_bank.sessions import note_reading, queue_rows, session_edit
from memory_bank.sessions.compress import hold_compression, make_observation_id
from memory_bank.sessions.note_store import IndexedNotes
from memory_bank.sessions.records import OBSERVATION_ID, Session
from memory_bank.sessions.state import open_store

_NOTE_ID = lazy_pattern(r"[0-9a-f]{12}")

_WAIT = 30.0
"""Seconds to wait for another process that compresses."""

_STARTED = "forgetting"
"""The file in the private state that says what is being forgotten, if that is an id."""


def _ask_to_forget(
    call: Call,
    bank: Bank,
    what: str,
    *,
    as_text: bool = False,
    dry_run: bool = False,
    yes: Annotated[bool, Param("Forget without asking")] = False,
) -> Forgotten | int:
    """Ask before something is forgotten."""
    text = (call.read_text(what) or "").strip()
    if not (
        dry_run
        or yes
        or forget_report.ask_to_remove(call, forget(bank, text, as_text=as_text, dry_run=True))
    ):
        call.remark("nothing was changed")
        return FOUND
    return forget(bank, text, as_text=as_text, dry_run=dry_run)


@operation(
    "forget",
    why="""
    Removes something for good from notes, trash, queue, logs and index on this machine; nothing
    brings it back. A text is replaced by `[forgotten]` wherever it stands; case counts. The id of
    an observation or a session, and the id or path of a note, remove that. The answer ends with
    what is beyond its reach, such as git's history. A session is not imported again.
    """,
    examples=(
        ("memory-bank forget 'Jane Doe' --dry-run", "show where the text is"),
        ("memory-bank forget obs-1a2b3c4d5e6f", "remove one observation"),
        ("memory-bank forget - --yes < text", "keep the text out of the shell's history"),
    ),
    group="Sessions",
    through=_ask_to_forget,
    view=forget_report.view_forgotten,
)
def forget(
    bank: Bank,
    what: Annotated[str, Param(argument=True, metavar="TEXT|ID")],
    *,
    as_text: Annotated[
        bool, Param("It is a text, even if it is also an id", flags="--text")
    ] = False,
    dry_run: Annotated[bool, Param("Show where it is; change nothing")] = False,
) -> Forgotten:
    """Remove a text, a note or a session for good.

    Remove something for good from notes, trash, queue, logs and index, and say what is left.

    `what` is the id of an observation or a session, the id or path of a note, else a text, of which
    every occurrence is replaced by `[forgotten]`; with `as_text` it is always a text. After a kill,
    the same call finishes. With `dry_run` nothing is changed. Raises BadInput for a text that is
    too short, NoteNotFound for an unknown observation, NoteReadOnly for an included file, Busy.
    """
    bank.settings.check_enabled()
    forgotten_texts.check_characters(what)
    with _report_unforgotten():
        if dry_run:
            return _forget(bank, what, as_text=as_text, dry_run=True)
        with hold_compression(bank, _WAIT) as is_alone:
            if not is_alone:
                raise Busy("another process makes observations of events", Hint.TRY_AGAIN)
            with bank.lock:
                return _forget(bank, what, as_text=as_text, dry_run=False)


@contextmanager
def _report_unforgotten() -> Iterator[None]:
    """Begin the message of an error of storage with what it means: nothing is forgotten yet."""
    try:
        yield
    except StorageFailed as error:
        message = f"what is to be forgotten is still here: {error.message}"
        raise StorageFailed(message, error.hint) from error


def _forget(bank: Bank, text: str, *, as_text: bool, dry_run: bool) -> Forgotten:
    kind, name = (TEXT, text) if as_text else _find_target(bank, text)
    run = Removal(bank, kind, dry_run)
    if kind == TEXT:
        removed = forgotten_texts.check_text(text)
        forgotten_texts.forget_text(run, removed)
        forgotten_texts.clean(run)
        forget_report.add(run, removed=removed)
        return run.result()
    with _mark_started(run, text.strip()) as again:
        paths = _remove(run, kind, name, again=again)
        forgotten_texts.clean(run)
    forget_report.add(run, paths=paths)
    return run.result()


def _remove(run: Removal, kind: str, name: str, *, again: bool) -> list[str]:
    """Remove a note, an observation or a session; return the paths of the changed notes.

    `again` says that a killed process has begun it, so that it may be gone.
    """
    if kind == SESSION:
        return forget_session(run, name)
    if kind == OBSERVATION:
        files = files_of_observation(run, name)
        if not (files or again):
            raise NoteNotFound("Observation not found", Hint.SEARCH_IDS)
        return forget_observation(run, name, files)
    run.bank.roots.check_writable(name)
    return remove_files(run, files_of_note(run, name))


def _find_target(bank: Bank, text: str) -> tuple[str, str]:
    """Return the kind of what a text names, and its id or path: of a text the text itself."""
    name = text.strip()
    block = name.removeprefix("#").removeprefix("^")
    if OBSERVATION_ID.match(block):
        return OBSERVATION, block
    if _is_session(bank, name):
        return SESSION, name
    path = _find_note(bank, name)
    if not path:
        return TEXT, text
    session = read_session_note(path, bank.roots.of(path).read(path) or b"")
    return (SESSION, session.session_id) if session else (NOTE, path)


def _is_session(bank: Bank, name: str) -> bool:
    if not name or "\n" in name:
        return False
    if bank.answer(lambda view: session_ids(view, name)):
        return True
    if name in queue_rows.list_forgotten(bank.layout.state(bank.id)):
        return True
    with open_store(bank) as store:
        if store.queue.session(name) is not None:
            return True
    return bool(files_of_session(Removal(bank, SESSION, dry_run=True), name))


def _find_note(bank: Bank, name: str) -> str:
    """Return the path of a note or a deleted note by its id or path; empty if there is none."""
    if _NOTE_ID.fullmatch(name):
        paths = bank.answer(lambda view: open_index.find_candidates(view.manifest, name))
        if len(paths) > 1:
            raise Conflict(
                f"{len(paths)} notes have the id {name}: {', '.join(sorted(paths)[:5])}",
                "name one by its path",
            )
        return paths[0] if paths else ""
    if not ("/" in name or name.endswith(NOTE_SUFFIXES)):
        return ""
    forms = _list_paths(bank, name)
    indexed = bank.answer(
        lambda view: next(
            (form for form in forms if link_rows.has_key(view.manifest, form)),
            "",
        )
    )
    deleted = {trashed.path for trashed in bank.store.list_trashed()}
    run = Removal(bank, NOTE, dry_run=True)
    return indexed or next(
        (form for form in forms if form in deleted or _was_started(run, name)), ""
    )


def _list_paths(bank: Bank, name: str) -> list[str]:
    """Return the paths that a name may mean."""
    name_in_bank = names.link_name(name, bank.layout)
    forms = [name, name_in_bank, bank.roots.key_of(name_in_bank)]
    paths = []
    for form in filter(None, forms):
        try:
            paths.append(names.note_path(form))
        except BadName:
            continue  # a text
    return paths


def _was_started(run: Removal, text: str) -> bool:
    """Return whether a killed process had begun to forget this id or path."""
    try:
        return (run.state / _STARTED).read_text(encoding="utf-8") == text
    except OSError:
        return False


@contextmanager
def _mark_started(run: Removal, text: str) -> Iterator[bool]:
    """Keep what is being forgotten in a file until that is done; yield whether it was there.

    The file also goes after an error that changed nothing.
    """
    again = _was_started(run, text)
    if run.dry_run:
        yield again
        return
    file = run.state / _STARTED
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise StorageFailed(f"{file} can't be written: {error.strerror}") from error
    try:
        yield again
    except (NoteNotFound, NoteReadOnly):
        file.unlink(missing_ok=True)
        raise
    file.unlink(missing_ok=True)


class File(NamedTuple):
    """A file of a note, in a folder of notes or in its trash."""

    root: NoteRoot
    path: str

    def read(self) -> bytes:
        """Return its bytes; no bytes if it is gone."""
        return files.read_in(self.root.folder, self.path) or b""


def read_session_note(path: str, data: bytes) -> Session | None:
    """Return the session of a note; None for another note, or a file that can't be read."""
    with suppress(UnreadableNote):
        return note_reading.parse(path, data)
    return None


def files_with(run: Removal, text: str) -> Iterator[tuple[File, bytes]]:
    """Yield the notes, also those in the trash, whose bytes have an id."""
    needle = text.encode("utf-8", "replace")
    for root in run.bank.roots.written():
        for path in list(forgotten_texts.yield_files(root.folder)):
            if forgotten_texts.is_note(path):
                data = File(root, path).read()
                if needle in data:
                    yield File(root, path), data


def files_of_session(run: Removal, session_id: str) -> list[File]:
    """Return the notes of a session, also those in the trash."""
    note_files = []
    for file, data in files_with(run, session_id):
        session = read_session_note(file.path, data)
        if session is not None and session.session_id == session_id:
            note_files.append(file)
    return note_files


def forget_session(run: Removal, session_id: str) -> list[str]:
    """Remove everything of a session; return the paths of its notes.

    Its id stays in a list, so that neither hooks nor an import store it again.
    """
    if not run.dry_run:
        queue_rows.add_forgotten(run.state, session_id)
    with open_store(run.bank) as store:
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
    note_files = [File(home, path)] if row is not None else []
    for root in run.bank.roots.written():
        for copy in forgotten_texts.yield_files(root.folder):
            if forgotten_texts.is_trashed(copy) and forgotten_texts.is_note(copy):
                file = File(root, copy)
                is_same = copy.split("/", 2)[2] == path
                if is_same or (row and row.id and _id_of(file) == row.id):
                    note_files.append(file)
    return note_files


def _id_of(file: File) -> str:
    with suppress(UnreadableNote):
        return parsing.front_matter(file.read()).id
    return ""


def remove_files(run: Removal, targets: Sequence[File]) -> list[str]:
    """Remove notes for good, with what is recorded of them; return their paths in the bank."""
    bank = run.bank
    live = [file.path for file in targets if not forgotten_texts.is_trashed(file.path)]
    for path in live:
        _add_links(run, path)
    known_names = bank.answer(lambda view: [_known_as(view, path) for path in live])
    with bank.store.writing():
        for file in targets:
            kind = "trash" if forgotten_texts.is_trashed(file.path) else "note"
            run.found(file.path, kind, 1)
            if not run.dry_run:
                bank.store.enter(file.root)
                forgotten_texts.remove_file(file.root.folder, file.path)
    names = list(dict.fromkeys([*known_names, *(file.path for file in targets)]))
    if not run.dry_run and (failed := bank.state.forget(names)):
        run.left(str(bank.state.file), failed)
    return live


def _known_as(view: IndexView, path: str) -> str:
    row = document_rows.document_at(view.manifest, path)
    return row.known_as if row else path


def _add_links(run: Removal, path: str) -> None:
    """Report the notes that link to a removed note: they stay, and may say what it said."""

    def sources(view: IndexView) -> list[str]:
        row = document_rows.document_at(view.manifest, path)
        links = read_incoming(view.manifest, row.number) if row else []
        return sorted({link.source_key for link in links} - {path})

    for source in run.bank.answer(sources):
        run.left(source, f"it links to {path}, and may say what that said")


def files_of_observation(run: Removal, identity: str) -> list[File]:
    """Return the notes that have an observation, also those in the trash."""
    note_files = []
    for file, data in files_with(run, f"^{identity}"):
        session = read_session_note(file.path, data)
        if session is not None and any(
            observation.id == identity for observation in session.observations
        ):
            note_files.append(file)
    return note_files


def forget_observation(run: Removal, identity: str, targets: Sequence[File]) -> list[str]:
    """Remove an observation from its notes, and its events; return the paths of the notes."""
    _remove_events(run, identity, targets)
    with run.bank.store.writing():
        for file in targets:
            kind = "trash" if forgotten_texts.is_trashed(file.path) else "note"
            without = partial(session_edit.remove_observation, file.path, observation_id=identity)
            with run.trying(file.path):
                if not run.dry_run:
                    run.bank.store.enter(file.root)
                    forgotten_texts.change(file.root.folder, file.path, without)
                run.found(file.path, kind, 1)
    for path in (file.path for file in targets if not forgotten_texts.is_trashed(file.path)):
        _add_links(run, path)
        run.left(f"{path}: prompts and summary", "they stay: forget the session, or a text")
    return [file.path for file in targets]


def _remove_events(run: Removal, identity: str, targets: Sequence[File]) -> None:
    """Remove the events of the observation that a killed process has left in the queue."""
    ids = {
        session.session_id
        for file in targets
        if (session := read_session_note(file.path, file.read()))
    }
    with open_store(run.bank) as store:
        if not run.dry_run and store.queue.file.exists():
            store.queue.remove_news(identity)
        for session_id in ids:
            for batch, events in store.queue.unfinished(session_id):
                observation_ids = {
                    make_observation_id(session_id, batch, n) for n in range(len(events))
                }
                if identity in observation_ids:
                    run.found(str(store.queue.file), "queue", len(events))
                    if not run.dry_run:
                        store.remove_pending([event.id for event in events])


def session_ids(view: IndexView, name: str) -> list[str]:
    """Return the ids of indexed sessions that are exactly a name."""
    rows = document_rows.find_by_field(view.manifest, "session_id", name.casefold())
    return [session_id for row in rows if (session_id := read_session_id(row)) == name]
