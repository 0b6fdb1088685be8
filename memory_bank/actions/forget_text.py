"""Forget a text: replace it in the notes, the trash, the queue and the logs of a bank."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from memory_bank import sqlite, sqlite_text
from memory_bank.actions import hook_log
from memory_bank.actions.forgotten import RENAMED, REPLACED, Removal
from memory_bank.actions.move_and_merge import rename
from memory_bank.errors import BadInput, IndexDamaged, MemoryBankError, NoteExists
from memory_bank.notes import removal, schema
from memory_bank.notes.roots import SESSIONS, Root
from memory_bank.removed_text import RemovedText
from memory_bank.sessions.note_parts import OBSERVATION_KEYS, SUMMARY_KEYS
from memory_bank.sessions.queue import EventQueue
from memory_bank.setting_sections import OBSERVATION_TYPES

LEAST = 4
"""Fewest letters and digits of a text: a shorter one is everywhere by chance."""
MOST = 10_000
_TRIES = 100
_FORMAT = (
    *(name for names in schema.KEYS.values() for name in names),
    *OBSERVATION_KEYS,
    *SUMMARY_KEYS,
    *schema.KNOWN_TYPES,
    *OBSERVATION_TYPES,
    *("active", "archived", "manual", "agent", "import", "sessions", "session_id", "project"),
    *("observation_id", "summary_id", "prompts", "summary", "tool_input", "verified_commit"),
)
"""Words that notes and the queue are made of."""


def checked(text: str) -> RemovedText:
    """Return a text to forget; raise BadInput for one that can't be told from others."""
    if sum(char.isalnum() for char in text) < LEAST:
        raise BadInput(
            f"a text to forget has at least {LEAST} letters or digits", "give more of the text"
        )
    if len(text) > MOST:
        raise BadInput(
            f"the text has {len(text):,} characters, more than {MOST:,}", "give a part of it"
        )
    if any(text.strip() in word for word in _FORMAT):
        raise BadInput(
            f"{text.strip()!r} is a word that notes are made of, such as a key or a type",
            "give more of the text",
        )
    return RemovedText(text)


def check_characters(text: str) -> None:
    """Raise BadInput for a text with characters that no note can have."""
    if any(char == "\0" or "\ud800" <= char <= "\udfff" for char in text):
        raise BadInput("the text has characters that no note can have", "leave them out")


def forget_text(run: Removal, removed: RemovedText) -> None:
    """Replace a text wherever the bank has it, apart from the index."""
    _rename_sessions(run, removed)
    if run.dry_run:
        for root in run.bank.roots.written():
            _in_files(run, root, removed)
    else:
        with run.bank.store.writing():
            for root in run.bank.roots.written():
                if root.folder.is_dir():
                    run.bank.store.enter(root)
                    _in_files(run, root, removed)
    _in_included(run, removed)
    _in_databases(run, removed)
    _in_hook_logs(run, removed)


def _in_files(run: Removal, root: Root, removed: RemovedText) -> None:
    """Replace the text in the notes and the trash of a root, and remove leftovers."""
    for path in list(removal.paths(root.folder)):
        try:
            if removal.is_leftover(path):
                run.found(_shown(root, path), "leftover", 1)
                if not run.dry_run:
                    removal.remove(root.folder, path)
                continue
            _in_file(run, root, path, removed)
        except MemoryBankError as error:
            run.left(_shown(root, path), error.message)


def _in_file(run: Removal, root: Root, path: str, removed: RemovedText) -> None:
    shown = _shown(root, path)
    new = removal.new_name(path, removed)
    if new != path and removal.is_trashed(path) and f"/{SESSIONS}" in path:
        run.found(shown, "trash", 1, RENAMED)
        if not run.dry_run:
            path = _renamed(root.folder, path, new)
    elif new != path and path.startswith(SESSIONS):
        shown = new if run.dry_run else shown
    elif new != path:
        way = "empty the trash" if removal.is_trashed(path) else "rename the file"
        run.left(shown, f"its name has the text: {way}")
    found = removal.look(root.folder, path, removed)
    if found is None:
        return
    if not (removal.is_note(path) or removal.is_trashed(path)):
        run.left(shown, "it has the text, but is no note: change it yourself")
    elif found.problem:
        run.left(shown, f"it has the text, but can't be rewritten: {found.problem}")
    else:
        kind = "trash" if removal.is_trashed(path) else "note"
        if not run.dry_run:
            removal.rewrite(root.folder, path, removed)
        run.found(shown, kind, found.number, REPLACED)


def _shown(root: Root, path: str) -> str:
    """Return the path of a note, else that of a file on this machine."""
    return path if removal.is_note(path) else str(root.folder / path)


def _renamed(folder: Path, path: str, new: str) -> str:
    goal = _free(new, lambda name: removal.move(folder, path, name))
    return goal or path


def _free(new: str, use: Callable[[str], object]) -> str:
    """Use a name, or one with a number that is free; empty if none is."""
    stem, dot, suffix = new.rpartition(".")
    for number in range(1, _TRIES):
        name = new if number == 1 else f"{stem}-{number}{dot}{suffix}"
        try:
            use(name)
        except NoteExists:
            continue
        return name
    return ""


def _rename_sessions(run: Removal, removed: RemovedText) -> None:
    """Rename notes of sessions, whose names were made of prompts."""
    bank = run.bank
    for path in sorted(bank.store.paths()):
        new = removal.new_name(path, removed)
        if new == path or not path.startswith(SESSIONS) or bank.roots.is_included(path):
            continue
        try:
            if not run.dry_run:
                _free(new, lambda name, path=path: rename(bank, path, name))  # type: ignore[misc]
            run.found(new, "note", 1, RENAMED)
        except MemoryBankError as error:
            run.left(path, f"its name has the text: {error.message}")


def _in_included(run: Removal, removed: RemovedText) -> None:
    """Name the included files that have the text, which are not changed."""
    included = run.bank.roots.included
    for path in sorted(included.scan().signatures) if included else ():
        if not run.bank.roots.is_included(path):
            continue
        try:
            found = removal.look(run.bank.roots.of(path).folder, path, removed)
        except MemoryBankError as error:
            run.left(path, error.message)
            continue
        if found is not None:
            run.left(path, "it has the text, but is a file of the project: change it yourself")
        elif removal.new_name(path, removed) != path:
            run.left(path, "its name has the text: rename the file")


def _in_databases(run: Removal, removed: RemovedText) -> None:
    queue = EventQueue(run.state, run.bank.add_repaired)
    try:
        if not run.dry_run:
            queue.last_news()  # a damaged file is set aside
        number = _counted(queue, removed) if run.dry_run else queue.replace_text(removed)
        run.found(str(queue.file), "queue", number, REPLACED)
        for session in () if run.dry_run else queue.sessions():
            if removal.new_name(session.path, removed) != session.path:
                queue.update(session.session_id, note="")  # the index knows its note
    except IndexDamaged as error:
        run.left(str(queue.file), error.message)
    finally:
        queue.close()
    for log in run.bank.logs.all():
        try:
            number = _counted(log, removed)
            if number and not run.dry_run:
                _replace(log, removed)
            run.found(str(log.file), "log", number, REPLACED)
        except MemoryBankError as error:
            run.left(str(log.file), error.message)


def _counted(file: sqlite.Opened, removed: RemovedText) -> int:
    if not file.file.exists():
        return 0
    with sqlite.guarded(file.file):
        return sqlite_text.count(file.opened(), removed)


def _replace(log: sqlite.Opened, removed: RemovedText) -> None:
    with sqlite.guarded(log.file):
        base = log.opened()
        with sqlite.transaction(base):
            sqlite_text.replace(base, removed)


def _in_hook_logs(run: Removal, removed: RemovedText) -> None:
    try:
        found = hook_log.replace_text(removed, str(run.state), dry_run=run.dry_run)
    except OSError as error:
        run.left("the logs of hooks", str(error.strerror))
        return
    for file, number in found.items():
        run.found(file, "log", number, REPLACED)
