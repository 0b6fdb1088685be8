"""Find what the ids of index rows mean."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from memory_bank import note_rows
from memory_bank.actions.index_rows import SUMMARY, Place, heading_place, is_session
from memory_bank.bank import Bank, View
from memory_bank.manifest import documents, entries
from memory_bank.manifest.entries import WHOLE
from memory_bank.manifest.sections import OBSERVATION
from memory_bank.notes.name_forms import of_note
from memory_bank.sessions.model import check_observation_id


def resolved(view: View, bank: Bank, ids: Sequence[str]) -> dict[str, Place]:
    """Map ids to the places that they mean, without those that mean nothing.

    An id may be that of an observation or a summary, of a session, of a note (or any name of it),
    or a note's with `#` and a heading. Raises BadInput for a number.
    """
    bare = {one: one.strip().removeprefix("#").removeprefix("^").strip() for one in ids}
    names = [name for name in bare.values() if name.startswith((OBSERVATION, SUMMARY))]
    sections = entries.named(view.manifest, names)
    found: dict[str, Place] = {}
    for given, name in bare.items():
        if name in sections:
            whole = name.startswith(SUMMARY)
            entry = sections[name]
            place: Place | None = Place(entry.document, WHOLE if whole else entry.section)
        else:
            place = _session(view, name) or _note(view, bank, name) or _section(view, bank, name)
        if place is not None:
            found[given] = place
        elif name.isdigit():
            check_observation_id(given)
    return found


def _session(view: View, name: str) -> Place | None:
    rows = documents.with_field(view.manifest, entries.SESSION_ID, name.casefold())
    return next((Place(row.number) for row in rows if is_session(row)), None)


def _note(view: View, bank: Bank, name: str) -> Place | None:
    if not name:
        return None
    forms = (name, of_note(name, bank.layout))
    paths = next(filter(None, (note_rows.candidates(view.manifest, form) for form in forms)), [])
    numbers = documents.numbers_of(view.manifest, paths) if len(paths) == 1 else []
    return Place(numbers[0]) if numbers else None


def _section(view: View, bank: Bank, name: str) -> Place | None:
    """Read `note#heading`; the name of a file may have `#` in it, too."""
    at = name.find("#")
    while at > 0:
        note = _note(view, bank, name[:at])
        if note is not None:
            parts = entries.parts(view.manifest, [note.document])[note.document]
            found = heading_place(parts.values(), note.document, name[at + 1 :].strip())
            if found is not None:
                return found
        at = name.find("#", at + 1)
    return None


def texts(ids: Collection[object]) -> list[str]:
    """Return ids as texts, each once; raise BadInput for numbers, which name no observation."""
    for one in ids:
        if not isinstance(one, str):
            check_observation_id(one)
    return list(dict.fromkeys(str(one) for one in ids))
