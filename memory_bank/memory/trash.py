"""Delete notes, list and restore deleted ones, and empty the trash."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from memory_bank.bank.bank import Bank
from memory_bank.base.dates import format_iso
from memory_bank.base.errors import BadInput, NoteNotFound, UnreadableNote
from memory_bank.base.filenames import NOTE_SUFFIXES
from memory_bank.base.operation import (
    LONGEST_NAME,
    IfMatch,
    Note,
    Notes,
    Param,
    Tool,
    operation,
    topic,
)
from memory_bank.base.rendering import count
from memory_bank.base.screen import FOUND, Call
from memory_bank.base.view import write_view
from memory_bank.memory import views
from memory_bank.memory.change import find_several
from memory_bank.memory.records import TrashedNote, WrittenNote
from memory_bank.notes import characters, front_matter, names, schema
from memory_bank.notes.storage.trash_folder import Trashed as Place
from memory_bank.notes.storage.trash_folder import deleted_at
from memory_bank.search.times import parse_moment

_SHOWN = 80
"""Maximum characters of the first line of a deleted note."""

_LISTED = 8
"""Maximum number of deleted notes that an error lists."""


@operation(
    "",
    view=views.view_deleted,
    tool=Tool(
        "Move a note that nobody needs to the trash. If wrong, `edit_memory`.",
        "bank",
        name="delete_memory",
        takes={"filename": "name", "if_match": "if_match"},
        destroys=True,
    ),
)
def delete(bank: Bank, name: Note, *, if_match: IfMatch = None) -> TrashedNote:
    """Move a note to the trash; `restore` brings it back."""
    bank.settings.check_enabled()
    trashed = bank.store.delete(bank.find(name, changing=True), if_match)
    with bank.lock:
        bank.state.rename(trashed.path, trashed.place)
    bank.catch_up()
    return _describe_trashed(bank, trashed)


@operation(
    "rm",
    why="""
    Moves notes to the bank's trash, `.memories/.trash/`; restore brings them back. Links to them
    are not changed and lead to ghosts until then. If one of the names is unknown, nothing is
    deleted. Consider archive instead: archived notes are excluded from results, but stay readable.
    """,
    examples=(
        ("memory-bank rm ideas/cache", "move it to the trash"),
        ("memory-bank trash restore ideas/cache", "restore it"),
    ),
    group="Organise",
    view=views.view_deleted,
)
def remove(bank: Bank, names: Notes, *, if_match: IfMatch = None) -> list[TrashedNote]:
    """Move notes to the trash, which can restore them."""
    paths = find_several(bank, names, if_match)
    return [delete(bank, path, if_match=if_match) for path in paths]


def _restore_note(bank: Bank, name: str, new_name: str = "") -> WrittenNote:
    return WrittenNote(restore(bank, name, new_name))


def _restore_in_command(
    call: Call, bank: Bank, name: str | None = None, new_name: str = "", *, version: str = ""
) -> int:
    """Restore a note, or list the trash."""
    if name is None and (new_name or version):
        text = "--as" if new_name else "--version"
        raise call.usage_error(f"{text} needs the name of a deleted note")
    if name is None:
        return write_view(call, None, views.view_trash(trash(bank)))
    note = WrittenNote(restore(bank, name, new_name, version=version))
    return write_view(call, note, views.view_restored(note, () if call.json else trash(bank, name)))


@operation(
    "trash restore",
    why="""
    Without a name, lists the trash, the newest first. With a name, restores the most recently
    deleted note of that name, under the same name or under another with --as. If several versions
    of it are in the trash, --version names another one; `memory-bank trash list NAME` lists them.
    """,
    examples=(
        ("memory-bank trash restore", "list the trash"),
        ("memory-bank trash restore ideas/cache", "under its old name"),
        ("memory-bank trash restore ideas/cache --as ideas/cache-2", "under another name"),
        ("memory-bank trash restore ideas/cache --version 20260508", "an older version"),
    ),
    through=_restore_in_command,
    view=views.view_restored,
    tool=Tool(
        "Bring back a note that `delete_memory` or `merge_memories` took.",
        "bank",
        name="restore_memory",
        takes={"filename": "name", "new_filename": "new_name"},
        run=_restore_note,
    ),
)
def restore(
    bank: Bank,
    name: Annotated[str, Param(argument=True, metavar="[NAME]", asked=True, longest=LONGEST_NAME)],
    new_name: Annotated[
        str,
        Param("Restore it under another name", flags="--as", metavar="NEW", longest=LONGEST_NAME),
    ] = "",
    *,
    version: Annotated[
        str, Param("Restore the version that starts so; by default the newest", metavar="DIGITS")
    ] = "",
) -> str:
    """Restore a deleted note, or list the trash.

    Returns the path of the note, which has another name if one is given.

    `version` has the first digits of one of its versions; by default the newest is restored. Raises
    NoteNotFound if the trash has none, Conflict if several start so, NoteExists if the name is
    taken.
    """
    bank.settings.check_enabled()
    target = names.new_path(new_name, bank.layout) if new_name else ""
    names.check_new(target)
    with bank.lock, bank.store.writing():
        paths = _find_deleted(bank, name)
        if len(paths) > 1:
            message = f"{name!r} may mean {len(paths)} notes in the trash"
            raise NoteNotFound(message, "say which: {paths}", paths=", ".join(paths[:_LISTED]))
        trashed = bank.store.choose_trashed(paths[0] if paths else name, version)
        path = bank.store.restore(trashed.path, target, trashed.version)
        bank.state.rename(trashed.place, path)
    bank.catch_up()
    return path


topic(
    "trash",
    "List deleted notes, restore them, empty the trash.",
    group="Organise",
    why="""
    rm moves notes to the trash, `.memories/.trash/`, which git ignores; so do merge, for its
    sources, and an import, for notes that it replaces. restore brings them back. Without a
    subcommand, lists them.
    """,
    examples=(
        ("memory-bank trash", "list deleted notes"),
        ("memory-bank trash restore ideas/cache", "bring one back"),
        ("memory-bank trash empty --older-than 30d", "delete old ones for good"),
    ),
    default="trash list",
    options=True,
)


@operation(
    "trash list",
    why="""
    Lists deleted notes with the time of deletion and the first line, the newest first. restore
    brings one back; its option --version takes the digits of the third column.
    """,
    examples=(
        ("memory-bank trash list", "all deleted notes"),
        ("memory-bank trash list ideas/cache", "the deleted versions of one note"),
    ),
    view=views.view_trash,
)
def trash(
    bank: Bank,
    name: Annotated[str, Param(argument=True, metavar="[NAME]")] = "",
) -> list[TrashedNote]:
    """List deleted notes, or the deleted versions of one.

    The newest come first.
    """
    deleted_notes = bank.store.list_trashed()
    keys = {names.lookup_key(note.path) for note in deleted_notes}
    if name:
        keys = {names.lookup_key(path) for path in _find_deleted(bank, name)}
    return [
        _describe_trashed(bank, note)
        for note in deleted_notes
        if names.lookup_key(note.path) in keys
    ]


def list_to_empty(bank: Bank, before: str | datetime | None = None) -> list[TrashedNote]:
    """List the deleted notes that `empty_trash` would delete for good."""
    return [
        _describe_trashed(bank, trashed)
        for trashed in bank.store.list_emptied(_parse_limit(before))
    ]


def _ask_to_delete(
    call: Call,
    bank: Bank,
    *,
    before: str | None = None,
    yes: Annotated[bool, Param("Delete without asking")] = False,
) -> int:
    """Ask before notes are deleted for good."""
    notes = list_to_empty(bank, before)
    text = count(len(notes), "note")
    if notes and not yes and (call.json or not call.interactive):
        raise BadInput(
            f"{text} in the trash would be deleted for good, but confirmation needs a terminal",
            "add --yes to delete without a question",
        )
    oldest = notes[-1].deleted_at[:10] if notes else ""
    prompt = f"Delete {text} for good, deleted since {oldest}?"
    deleted_notes = (
        empty_trash(bank, before=before) if notes and (yes or call.confirm(prompt)) else []
    )
    if call.json:
        call.document({"result_count": len(deleted_notes), "emptied": deleted_notes})
    elif deleted_notes:
        call.console.line(f"deleted {count(len(deleted_notes), 'note')} for good")
    elif notes:
        call.remark("nothing was deleted")
    else:
        call.remark("the trash is empty" if before is None else "nothing in the trash is that old")
    return FOUND


@operation(
    "trash empty",
    why="""
    Deletes notes in the trash for good, after a question; nothing brings them back, unless git has
    them. Files that another program put into `.memories/.trash/` stay.
    """,
    examples=(
        ("memory-bank trash empty --older-than 30d", "what was deleted more than 30 days ago"),
        ("memory-bank trash empty --yes", "everything, without a question"),
    ),
    through=_ask_to_delete,
)
def empty_trash(
    bank: Bank,
    *,
    before: Annotated[
        str | datetime | None,
        Param(
            "Delete only what was moved there before: 30d, 2w, 2026-05-08",
            flags="--older-than",
            metavar="WHEN",
            only=str | None,
        ),
    ] = None,
) -> list[TrashedNote]:
    """Delete the notes in the trash for good.

    Returns them; with `before`, they are those that were deleted before that time.

    Files that another program put into the trash stay. Raises BadInput for a text that is no time.
    """
    bank.settings.check_enabled()
    limit = _parse_limit(before)
    with bank.lock, bank.store.writing():
        deleted_notes = list_to_empty(bank, limit)
        places = [trashed.place for trashed in bank.store.empty_trash(limit)]
        bank.state.forget(places)
    return deleted_notes


def _parse_limit(before: str | datetime | None) -> datetime | None:
    moment = parse_moment(before) if isinstance(before, str) else before
    return moment.replace(tzinfo=UTC) if moment and not moment.tzinfo else moment


def _find_deleted(bank: Bank, name: str) -> list[str]:
    """Return the paths of the deleted notes that a name means.

    It is a whole name, else one without its folders, else the start of names, else of ids.
    """
    notes = bank.store.list_trashed()
    paths = {names.lookup_key(note.path): note.path for note in reversed(notes)}
    keys = map(names.lookup_key, (name, names.link_name(name, bank.layout)))
    forms = tuple(dict.fromkeys(filter(None, keys)))
    if exact := [paths[form] for form in forms if form in paths]:
        return exact[:1]
    ends = tuple(f"/{form}" for form in forms)
    if by_file := [path for whole, path in paths.items() if f"/{whole}".endswith(ends)]:
        return by_file
    if name.strip().endswith(NOTE_SUFFIXES):
        return []
    prefixed = [path for form in forms for path in names.find_by_start(paths.values(), form)]
    by_id = (note.path for note in notes if not prefixed and _read_id(bank, note).startswith(forms))
    return list(dict.fromkeys(prefixed or by_id))


def _read_id(bank: Bank, note: Place) -> str:
    """Return the id of a deleted note; empty if it has none."""
    try:
        text = characters.decode(bank.store.read_trashed(note)).text
        return schema.read_meta(front_matter.read_metadata(front_matter.split(text))[0])[0].id
    except UnreadableNote:
        return ""


def _describe_trashed(bank: Bank, note: Place) -> TrashedNote:
    when = deleted_at(note.version)
    return TrashedNote(
        path=note.path,
        version=note.version,
        deleted_at=format_iso(when) if when else "",
        first_line=_read_first_line(bank.store.read_trashed(note)),
    )


def _read_first_line(data: bytes) -> str:
    try:
        text = characters.decode(data).text
    except UnreadableNote:
        return ""
    lines = (line.strip() for line in front_matter.split(text).body.splitlines())
    return next((line[:_SHOWN] for line in lines if line), "")
