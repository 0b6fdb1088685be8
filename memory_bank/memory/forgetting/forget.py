"""Forget a text, a note, an observation or a session, everywhere that this program keeps it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, NamedTuple

from memory_bank.bank import open_index
from memory_bank.bank.bank import Bank
from memory_bank.bank.open_index import View
from memory_bank.base.errors import (
    BadName,
    Busy,
    Conflict,
    Hint,
    NoteNotFound,
    NoteReadOnly,
    StorageFailed,
)
from memory_bank.base.filenames import NOTE_SUFFIXES
from memory_bank.base.operation import Param, operation
from memory_bank.base.screen import FOUND, Call
from memory_bank.memory.forgetting import forget_report, forgotten_notes, forgotten_texts, shown
from memory_bank.memory.forgetting.forgotten import (
    NOTE,
    OBSERVATION,
    SESSION,
    TEXT,
    Forgotten,
    Removal,
)
from memory_bank.notes import names
from memory_bank.search.manifest import link_rows
from memory_bank.sessions import forgotten_sessions
from memory_bank.sessions.compress import alone
from memory_bank.sessions.records import OBSERVATION_ID
from memory_bank.sessions.state import opened

_NOTE_ID = re.compile(r"[0-9a-f]{12}")

_WAIT = 30.0
"""Seconds to wait for another process that compresses."""

_STARTED = "forgetting"
"""The file in the private state that says what is being forgotten, if that is an id."""


class _Target(NamedTuple):
    kind: str
    name: str
    """The text, the path of a note, or an id."""


def _asked(
    call: Call,
    bank: Bank,
    what: str,
    *,
    as_text: bool = False,
    dry_run: bool = False,
    yes: Annotated[bool, Param("Forget without asking")] = False,
) -> Forgotten | int:
    """Ask before something is forgotten."""
    wanted = (call.given(what) or "").strip()
    if not (
        dry_run or yes or shown.agreed(call, forget(bank, wanted, as_text=as_text, dry_run=True))
    ):
        call.remark("nothing was changed")
        return FOUND
    return forget(bank, wanted, as_text=as_text, dry_run=dry_run)


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
    through=_asked,
    show=shown.forgotten,
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
    if dry_run:
        return _forget(bank, what, as_text=as_text, dry_run=True)
    with alone(bank, _WAIT) as is_alone:
        if not is_alone:
            raise Busy("another process makes observations of events", Hint.TRY_AGAIN)
        with bank.lock:
            return _forget(bank, what, as_text=as_text, dry_run=False)


def _forget(bank: Bank, what: str, *, as_text: bool, dry_run: bool) -> Forgotten:
    target = _Target(TEXT, what) if as_text else _target(bank, what)
    run = Removal(bank, target.kind, dry_run)
    if target.kind == TEXT:
        removed = forgotten_texts.checked(what)
        forgotten_texts.forget_text(run, removed)
        forgotten_texts.clean(run)
        forget_report.add(run, removed=removed)
        return run.result()
    with _remembered(run, what.strip()) as again:
        paths = _remove(run, target, again=again)
        forgotten_texts.clean(run)
    forget_report.add(run, paths=paths)
    return run.result()


def _remove(run: Removal, target: _Target, *, again: bool) -> list[str]:
    """Remove a note, an observation or a session; return the paths of the changed notes.

    If a killed process had begun `again`, it may be gone.
    """
    if target.kind == SESSION:
        return forgotten_notes.forget_session(run, target.name)
    if target.kind == OBSERVATION:
        found = forgotten_notes.files_of_observation(run, target.name)
        if not (found or again):
            raise NoteNotFound("Observation not found", Hint.SEARCH_IDS)
        return forgotten_notes.forget_observation(run, target.name, found)
    run.bank.roots.check_writable(target.name, moving=True)
    return forgotten_notes.remove_files(run, forgotten_notes.files_of_note(run, target.name))


def _target(bank: Bank, what: str) -> _Target:
    """Return what a name means: an observation, a session, a note; else it is a text."""
    name = what.strip()
    block = name.removeprefix("#").removeprefix("^")
    if OBSERVATION_ID.match(block):
        return _Target(OBSERVATION, block)
    if _is_session(bank, name):
        return _Target(SESSION, name)
    path = _note(bank, name)
    if not path:
        return _Target(TEXT, what)
    session = forgotten_notes.session_of(path, bank.roots.of(path).read(path) or b"")
    return _Target(SESSION, session.session_id) if session else _Target(NOTE, path)


def _is_session(bank: Bank, name: str) -> bool:
    if not name or "\n" in name:
        return False
    if bank.answer(lambda view: forgotten_notes.session_ids(view, name)):
        return True
    if name in forgotten_sessions.ids(bank.layout.state(bank.id)):
        return True
    with opened(bank) as store:
        if store.queue.session(name) is not None:
            return True
    return bool(forgotten_notes.files_of_session(Removal(bank, SESSION, dry_run=True), name))


def _note(bank: Bank, name: str) -> str:
    """Return the path of a note by its id or its path, also of a deleted one; else empty."""
    if _NOTE_ID.fullmatch(name):
        found = bank.answer(lambda view: open_index.candidates(view.manifest, name))
        if len(found) > 1:
            raise Conflict(
                f"{len(found)} notes have the id {name}: {', '.join(sorted(found)[:5])}",
                "name one by its path",
            )
        return found[0] if found else ""
    if not ("/" in name or name.endswith(NOTE_SUFFIXES)):
        return ""
    forms = _paths(bank, name)
    known = bank.answer(lambda view: _known(view, forms))
    deleted = {one.path for one in bank.store.trashed()}
    started = Removal(bank, NOTE, dry_run=True)
    return known or next(
        (form for form in forms if form in deleted or _was_started(started, name)), ""
    )


def _paths(bank: Bank, name: str) -> list[str]:
    """Return the paths that a name may mean."""
    below = names.of_note(name, bank.layout)
    forms = [name, below, bank.roots.key_of(below)]
    found = []
    for form in filter(None, forms):
        try:
            found.append(names.path_of(form))
        except BadName:
            continue  # a text
    return found


def _known(view: View, forms: list[str]) -> str:
    return next((one for one in forms if link_rows.has_key(view.manifest, one)), "")


def _was_started(run: Removal, what: str) -> bool:
    """Tell whether a killed process had begun to forget this id or path."""
    try:
        return (run.state / _STARTED).read_text(encoding="utf-8") == what
    except OSError:
        return False


@contextmanager
def _remembered(run: Removal, what: str) -> Iterator[bool]:
    """Remember what is being forgotten until that is done; tell whether it had been begun.

    After an error that changed nothing, it is not remembered.
    """
    again = _was_started(run, what)
    if run.dry_run:
        yield again
        return
    file = run.state / _STARTED
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        file.write_text(what, encoding="utf-8")
    except OSError as error:
        raise StorageFailed(f"{file} can't be written: {error.strerror}") from error
    try:
        yield again
    except (NoteNotFound, NoteReadOnly):
        file.unlink(missing_ok=True)
        raise
    file.unlink(missing_ok=True)
