"""Delete notes, list and restore deleted ones, and empty the trash."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from memory_bank.bank.bank import Bank
from memory_bank.base.dates import iso
from memory_bank.base.errors import UnreadableNote
from memory_bank.notes import characters, front_matter, names
from memory_bank.notes.trash_folder import Trashed as Place
from memory_bank.notes.trash_folder import deleted_at
from memory_bank.search.times import moment

_SHOWN = 80
"""Maximum characters of the first line of a deleted note."""


@dataclass(frozen=True, slots=True)
class TrashedNote:
    """A version of a deleted note."""

    path: str
    """The note's former path, relative to the bank."""
    version: str
    """Digits that name this version; they sort by the time of deletion."""
    deleted_at: str
    """Empty if another program put it into the trash."""
    first_line: str
    """The first line of its text, below its front matter."""


def delete(bank: Bank, name: str, *, if_match: str | None = None) -> TrashedNote:
    """Move a note to the trash; `restore` brings it back."""
    bank.settings.check_enabled()
    trashed = bank.store.delete(bank.find(name, exactly=True), if_match)
    with bank.lock:
        bank.logs.edits.rename(trashed.path, trashed.place)
    bank.catch_up()
    return _shown(bank, trashed)


def restore(bank: Bank, name: str, new_name: str = "", *, version: str = "") -> str:
    """Restore a deleted note, under another name if given; return its path.

    `version` has the first digits of one of its versions; by default the newest is restored. Raises
    NoteNotFound if the trash has none, Conflict if several start so, NoteExists if the name is
    taken.
    """
    bank.settings.check_enabled()
    target = names.new_path(new_name, bank.layout) if new_name else ""
    names.check_new(target)
    with bank.lock, bank.store.writing():
        form = _form(bank, name)
        found = bank.store.chosen(form, version)
        path = bank.store.restore(form, target, found.version)
        bank.logs.edits.rename(found.place, path)
    bank.catch_up()
    return path


def trash(bank: Bank, name: str = "") -> list[TrashedNote]:
    """List the deleted notes, or the deleted versions of one note, the newest first."""
    wanted = names.key(_form(bank, name)) if name else ""
    found = bank.store.trashed()
    return [_shown(bank, one) for one in found if wanted in {"", names.key(one.path)}]


def known_names(bank: Bank) -> list[str]:
    """Return the names of the deleted notes."""
    return sorted({note.path.removesuffix(".md") for note in bank.store.trashed()})


def to_empty(bank: Bank, before: str | datetime | None = None) -> list[TrashedNote]:
    """List the deleted notes that `empty_trash` would delete for good."""
    return [_shown(bank, one) for one in bank.store.emptied(_moment(before))]


def empty_trash(bank: Bank, *, before: str | datetime | None = None) -> list[TrashedNote]:
    """Delete the notes in the trash for good, or those deleted before a time, and return them.

    Files that another program put into the trash stay. Raises BadInput for a text that is no time.
    """
    bank.settings.check_enabled()
    limit = _moment(before)
    with bank.lock, bank.store.writing():
        gone = to_empty(bank, limit)
        places = [one.place for one in bank.store.empty_trash(limit)]
        bank.logs.edits.forget(places)
    return gone


def _moment(before: str | datetime | None) -> datetime | None:
    found = moment(before) if isinstance(before, str) else before
    return found.replace(tzinfo=UTC) if found and not found.tzinfo else found


def _form(bank: Bank, name: str) -> str:
    """Return a deleted note's name: as given if it has that name, else normalised."""
    known = {names.key(one.path) for one in bank.store.trashed()}
    return name if names.key(name) in known else names.of_note(name, bank.layout)


def _shown(bank: Bank, note: Place) -> TrashedNote:
    when = deleted_at(note.version)
    return TrashedNote(
        path=note.path,
        version=note.version,
        deleted_at=iso(when) if when else "",
        first_line=_first_line(bank.store.read_trashed(note)),
    )


def _first_line(data: bytes) -> str:
    try:
        text = characters.decode(data).text
    except UnreadableNote:
        return ""
    lines = (line.strip() for line in front_matter.split(text).body.splitlines())
    return next((line[:_SHOWN] for line in lines if line), "")
