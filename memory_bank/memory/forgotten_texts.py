"""Forget a text: replace it in notes, trash, queue and logs, and remove what is left of it.

Nothing goes to the trash. Files of a root are changed inside the store's `writing`, after it has
entered the root.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from stat import S_ISDIR, S_ISREG

from memory_bank.bank import copies, hook_log
from memory_bank.bank.note_files import open_history
from memory_bank.base.errors import (
    BadInput,
    BadName,
    Conflict,
    MemoryBankError,
    NoteExists,
    UnreadableNote,
)
from memory_bank.base.filenames import LOCK_FILE, NOTE_SUFFIXES, TEMPORARY_PREFIX
from memory_bank.base.paths import INDEX
from memory_bank.base.removed_text import PLAIN_MARK, RemovedText
from memory_bank.base.setting_sections import OBSERVATION_TYPES
from memory_bank.git import repository
from memory_bank.memory.forget_report import REBUILT, RENAMED, REPLACED, Removal
from memory_bank.memory.move_and_merge import rename
from memory_bank.notes import characters, front_matter, parsing, schema
from memory_bank.notes.identity import hash_bytes, make_slug
from memory_bank.notes.merging import conflicts
from memory_bank.notes.merging.conflicts import UNRESOLVED
from memory_bank.notes.roots import SESSIONS, NoteRoot
from memory_bank.notes.storage import files
from memory_bank.notes.storage.folders import files_in, hold_folder, names_in, read_stat
from memory_bank.notes.storage.trash_folder import TRASH
from memory_bank.sessions.note_reading import OBSERVATION_KEYS, SUMMARY_KEYS
from memory_bank.sessions.queue import EventQueue

LEAST = 4
"""Fewest letters and digits of a text: a shorter one is everywhere by chance."""

MOST = 10_000
"""Characters of a text that is looked for everywhere."""

_TRIES = 100
"""Names that are tried for a note whose name is forgotten."""

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


def check_text(text: str) -> RemovedText:
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
            _replace_in_files(run, root, removed)
    else:
        with run.bank.store.writing():
            for root in run.bank.roots.written():
                if root.folder.is_dir():
                    run.bank.store.enter(root)
                    _replace_in_files(run, root, removed)
    _list_included(run, removed)
    _replace_in_databases(run, removed)
    _replace_in_hook_logs(run, removed)


def _replace_in_files(run: Removal, root: NoteRoot, removed: RemovedText) -> None:
    """Replace the text in the notes and the trash of a root, and remove leftovers."""
    for path in list(yield_files(root.folder)):
        with run.trying(_show_path(root, path)):
            if not is_leftover(path):
                _replace_in_file(run, root, path, removed)
                continue
            run.found(_show_path(root, path), "leftover", 1)
            if not run.dry_run:
                remove_file(root.folder, path)


def _replace_in_file(run: Removal, root: NoteRoot, path: str, removed: RemovedText) -> None:
    shown_path = _show_path(root, path)
    new = new_name(path, removed)
    if new != path and is_trashed(path) and f"/{SESSIONS}" in path:
        run.found(shown_path, "trash", 1, RENAMED)
        if not run.dry_run:
            path = _rename_file(root.folder, path, new)
    elif new != path and path.startswith(SESSIONS):
        shown_path = new if run.dry_run else shown_path
    elif new != path:
        way = "empty the trash" if is_trashed(path) else "rename the file"
        run.left(shown_path, f"its name has the text: {way}")
    number, problem = count_text(root.folder, path, removed)
    if not number:
        return
    if not (is_note(path) or is_trashed(path)):
        run.left(shown_path, "it has the text, but is no note: change it yourself")
    elif problem:
        run.left(shown_path, f"it has the text, but can't be rewritten: {problem}")
    else:
        kind = "trash" if is_trashed(path) else "note"
        if not run.dry_run:
            rewrite(root.folder, path, removed)
        run.found(shown_path, kind, number, REPLACED)


def _show_path(root: NoteRoot, path: str) -> str:
    """Return the path of a note, else that of a file on this machine."""
    return path if is_note(path) else str(root.folder / path)


def _rename_file(folder: Path, path: str, new: str) -> str:
    goal = _use_free_name(new, lambda name: move(folder, path, name))
    return goal or path


def _use_free_name(new: str, use: Callable[[str], object]) -> str:
    """Use a name, or with a number if it is taken; return the used name, empty if none is free."""
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
        new = new_name(path, removed)
        if new == path or not path.startswith(SESSIONS) or bank.roots.is_included(path):
            continue
        try:
            if not run.dry_run:
                _use_free_name(new, lambda name, path=path: rename(bank, path, name))  # type: ignore[misc]
            run.found(new, "note", 1, RENAMED)
        except MemoryBankError as error:
            run.left(path, f"its name has the text: {error.message}")


def _list_included(run: Removal, removed: RemovedText) -> None:
    """Report the included files that have the text, which are not changed."""
    included = run.bank.roots.included
    for path in sorted(included.scan().signatures) if included else ():
        if not run.bank.roots.is_included(path):
            continue
        with run.trying(path):
            if count_text(run.bank.roots.of(path).folder, path, removed)[0]:
                run.left(path, "it has the text, but is a file of the project: change it yourself")
            elif new_name(path, removed) != path:
                run.left(path, "its name has the text: rename the file")


def _replace_in_databases(run: Removal, removed: RemovedText) -> None:
    queue = EventQueue(run.state, run.bank.add_repaired)
    if not run.dry_run:
        queue.last_news()  # a damaged file is set aside
        run.bank.state.updates()
    for file in (queue, run.bank.state):
        with run.trying(str(file.file)):
            number = file.count_text(removed) if run.dry_run else file.replace_text(removed)
            run.found(str(file.file), "queue" if file is queue else "log", number, REPLACED)
    for session in () if run.dry_run else queue.sessions():
        if new_name(session.path, removed) != session.path:
            queue.update(session.session_id, note="")  # the index knows its note
    queue.close()


def _replace_in_hook_logs(run: Removal, removed: RemovedText) -> None:
    try:
        counts = hook_log.replace_text(removed, str(run.state), dry_run=run.dry_run)
    except OSError as error:
        run.left("the logs of hooks", str(error.strerror))
        return
    for file, number in counts.items():
        run.found(file, "log", number, REPLACED)


_READ = "another process reads it, so that its log may have it still: forget again later"


def clean(run: Removal) -> None:
    """Empty the index and fill it again; write the databases anew; remove damaged ones."""
    _remove_damaged(run)
    _empty_index(run)
    _remove_copies(run)
    if run.dry_run:
        return
    for file in (EventQueue(run.state, run.bank.add_repaired), run.bank.state):
        with run.trying(str(file.file)):
            if not file.scrub():
                run.left(str(file.file), _READ)
    run.bank.catch_up()


def _remove_damaged(run: Removal) -> None:
    """Remove databases that were set aside: nobody can say what is in them."""
    for file in sorted(run.state.glob("*.db.damaged*")):
        run.found(str(file), "leftover", 1)
        with run.trying(str(file)):
            if not run.dry_run:
                file.unlink()


def _empty_index(run: Removal) -> None:
    layout = run.bank.layout
    run.found(str(layout.index), "index", 1, REBUILT)
    for folder in layout.unused_indices():
        if folder == layout.root / INDEX and layout.renewed().left_alone:
            run.left(str(folder), "it was not made on this machine and may have it: remove it")
        else:
            with run.trying(str(folder)):
                if not run.dry_run:
                    shutil.rmtree(folder)
                run.found(str(folder), "leftover", 1)
    if run.dry_run:
        return
    run.bank.empty_index()
    if tree := repository.find_worktree(layout.root):
        open_history(tree).discard()


def _remove_copies(run: Removal) -> None:
    """Remove the copies of the bank as of other revisions, which may have it."""
    for slot in copies.list_copies(run.bank.layout):
        run.found(str(slot), "index", 1)
        with run.trying(str(slot)):
            if not (run.dry_run or copies.remove_copy(slot)):
                run.left(str(slot), _READ)


_NOT_OURS = frozenset({".git", ".index"})

_READINGS = 5
"""How often a file is read again that another program saved meanwhile."""

_LEAST_SLUG = 4
"""Fewest characters of a text in a file's name that are not there by chance."""


def yield_files(folder: Path) -> Iterator[str]:
    """Yield all plain files below a folder of notes, except those of git and of the index."""
    for name in names_in(folder):
        stat = None if name in _NOT_OURS else read_stat(folder, name)
        if stat is not None and S_ISDIR(stat.st_mode):
            yield from (path for path in files_in(folder, name) if "/.git/" not in path)
        elif stat is not None and S_ISREG(stat.st_mode):
            yield name


def is_leftover(path: str) -> bool:
    """Return whether a file was left by a killed writer."""
    name = path.rpartition("/")[2]
    return name.startswith(TEMPORARY_PREFIX) and name != LOCK_FILE


def is_trashed(path: str) -> bool:
    """Return whether a file is in the trash."""
    return path.startswith(f"{TRASH}/")


def is_note(path: str) -> bool:
    """Return whether a file is a note, or a note in the trash."""
    hidden = any(part.startswith(".") for part in path.removeprefix(f"{TRASH}/").split("/"))
    return not hidden and path.endswith(NOTE_SUFFIXES)


def count_text(folder: Path, path: str, removed: RemovedText) -> tuple[int, str]:
    """Return how often a file has the text, and why it can't be rewritten; empty if it can."""
    data = files.read_in(folder, path)
    if data is None:
        return 0, ""
    try:
        decoded = characters.decode(data)
    except UnreadableNote as error:
        number = sum(data.count(form) for form in removed.bytes)
        return number, error.message
    problem = "" if decoded.writable else decoded.faults[0].reason
    if conflicts.find(decoded.text):
        problem = UNRESOLVED
    return removed.count(decoded.text), problem


def rewrite(folder: Path, path: str, removed: RemovedText) -> None:
    """Replace the text in a file; raise as `change` does."""
    change(folder, path, lambda text: remove_text(text, removed))


def change(folder: Path, path: str, edit: Callable[[str], str]) -> None:
    """Change a file's text; raise UnreadableNote, or Conflict if others keep changing it."""
    for tries in reversed(range(_READINGS)):
        data = files.read_in(folder, path)
        if data is None:
            return
        new = parsing.edit_bytes(data, edit)
        try:
            with files.open_parent(folder, path, "write") as file:
                files.replace(file, new, hash_bytes(data))
        except Conflict:
            if not tries:
                raise
        else:
            return


def remove_text(text: str, removed: RemovedText) -> str:
    """Return a note's text without the removed one."""
    parts = front_matter.split(text)
    head = "".join(parts[:3])
    return removed.replaced(head, bare=True) + removed.replaced(parts.body)


def remove_file(folder: Path, path: str) -> None:
    """Delete a file for good, and with one in the trash the folders that are empty then."""
    with files.open_parent(folder, path, "delete") as file:
        file.unlink()
        file.sync()
    _remove_empty(folder, path)


def move(folder: Path, old: str, new: str) -> None:
    """Rename a file in the trash; raise NoteExists if the name is taken."""
    with (
        files.open_parent(folder, old, "move") as source,
        files.open_parent(folder, new, "move", make=True) as goal,
    ):
        files.move(source, goal)
    _remove_empty(folder, old)


def new_name(path: str, removed: RemovedText) -> str:
    """Return a path without the text, and without the form of it that names of files have."""
    name = removed.replaced(path, bare=True)
    short = make_slug(removed.text, len(removed.text))
    if len(short) < _LEAST_SLUG:
        return name
    whole = rf"(?<![^\W_]){re.escape(short)}(?![^\W_])"
    return re.sub(whole, PLAIN_MARK, name)


def _remove_empty(folder: Path, path: str) -> None:
    while is_trashed(path) and (path := path.rpartition("/")[0]) != TRASH:
        try:
            with hold_folder(folder, path) as above:
                above.rmdir()
        except (OSError, BadName):
            return  # not empty
