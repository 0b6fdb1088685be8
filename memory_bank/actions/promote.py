"""Make a tracked note of an observation, linked with the session that made it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from memory_bank.actions.remember import DEFAULT_TYPE, remember
from memory_bank.actions.session_compression import compress_now
from memory_bank.actions.session_state import IndexedNotes, opened
from memory_bank.bank import Bank
from memory_bank.errors import NoteNotFound
from memory_bank.notes.names import name_of
from memory_bank.notes.schema import normalise_tags
from memory_bank.sessions import note_edit
from memory_bank.sessions.model import Observation, check_observation_id
from memory_bank.sessions.note_text import escaped, heading

SCHEMA_VERSION = "1.0"
CREATED, EXISTING = "created", "existing"
PROMOTED_TO = "promoted_to"
"""The field of an observation with the link to the note that was made of it."""
_LINK = re.compile(r"\[\[([^\]\n]+)\]\]")


@dataclass(frozen=True, slots=True)
class Promoted:
    """The note that was made of an observation."""

    schema_version: str
    observation_id: str
    path: str
    action: str
    """`created`, or `existing` if the observation was promoted before."""
    session_path: str
    """The note of the observation's session."""


def promote(bank: Bank, observation_id: str, *, type: str = "", name: str = "") -> Promoted:  # noqa: A002  (the field's word)
    """Make a note of an observation, by default of its type, and link both.

    An observation that was promoted before is not promoted again: the answer names its note.
    Raises BadInput for anything but the id of an observation, NoteNotFound for an unknown one,
    NoteExists for a taken `name`.
    """
    wanted = check_observation_id(observation_id)
    compress_now(bank)
    with opened(bank) as store:
        found = store.get_observation(wanted)
        session = store.get_session(found.session_id) if found else None
    place = IndexedNotes(bank).with_blocks([wanted]).get(wanted, "")
    if found is None or not place:
        raise NoteNotFound("Observation not found", "search lists observations with their ids")
    known = _promoted_to(bank, place, wanted)
    if known:
        return Promoted(SCHEMA_VERSION, wanted, known, EXISTING, place)
    done = remember(
        bank,
        _content(found, place),
        type=type or found.obs_type or DEFAULT_TYPE,
        name=name,
        tags=normalise_tags(found.concepts),
        file_refs=tuple(dict.fromkeys((*found.files_modified, *found.files_read))),
        source_type="agent",
        source_agent=session.agent if session else "",
    )
    link = f"[[{name_of(done.path)}]]"
    bank.store.change(
        place, lambda text: note_edit.set_field(place, text, wanted, PROMOTED_TO, link)
    )
    bank.catch_up()
    return Promoted(SCHEMA_VERSION, wanted, done.path, CREATED, place)


def _content(one: Observation, place: str) -> str:
    parts = [f"# {heading(one.title)}"]
    if one.subtitle:
        parts.append(escaped(one.subtitle))
    if one.narrative:
        parts.append(escaped(one.narrative))
    if one.facts:
        parts.append("\n".join(f"- {escaped(' '.join(fact.split()))}" for fact in one.facts))
    parts.append(f"- learned_in:: [[{name_of(place)}#^{one.id}]]")
    return "\n\n".join(parts) + "\n"


def _promoted_to(bank: Bank, place: str, observation_id: str) -> str:
    """Return the path of the note to which an observation was promoted; empty if there is none."""
    value = note_edit.field(place, bank.store.read(place).text, observation_id, PROMOTED_TO)
    found = _LINK.match(value)
    if found is None:
        return ""
    try:
        return bank.find(found[1].split("|")[0].split("#")[0])
    except NoteNotFound:
        return ""  # it was deleted since
