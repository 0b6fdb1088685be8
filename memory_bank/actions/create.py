"""Create a note with a given name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from memory_bank import session_notes
from memory_bank.actions.author_keys import with_author_keys
from memory_bank.actions.authors import record, warnings, writer
from memory_bank.actions.remember import (
    CREATED,
    SCHEMA_VERSION,
    Remembered,
    check_content,
    check_size,
    check_source,
)
from memory_bank.agents import agent_name
from memory_bank.bank import Bank
from memory_bank.errors import BadInput
from memory_bank.notes import frontmatter, note_parser
from memory_bank.notes.name_forms import new_path
from memory_bank.notes.schema import check_tags, iso, key_of, known_type, note_id, read_meta


def create(
    bank: Bank,
    name: str,
    content: str,
    *,
    tags: Sequence[str] = (),
    type: str = "",  # noqa: A002  (the field's word)
    source_type: str = "manual",
    source_agent: str = "",
) -> Remembered:
    """Create a note with a given name, even if another has the same content.

    Front matter in the content overrides the arguments, except an agent's author keys.

    Raises NoteExists when the name is taken, BadName, BadInput for empty content or tags, or for
    front matter that can't be parsed.
    """
    check_content(bank, content)
    check_source(source_type)
    path = new_path(name, bank.layout)
    created = datetime.now(UTC)
    wanted = check_tags(tags)
    metadata = {
        "id": note_id(content, created),
        "type": known_type(type),
        "tags": list(wanted),
        "created_at": created,
        "source_type": source_type,
        "source_agent": agent_name(source_agent),
    }
    by = writer(source_type, source_agent)
    given = content if by is None else with_author_keys(content, metadata)
    text = _text(given, {key: value for key, value in metadata.items() if value}, wanted)
    check_size(bank, text)
    bank.store.create(path, text, given=content)
    bank.catch_up()
    unknown = record(bank, [path], by)
    note = note_parser.parse(path, note_parser.encoded(text))
    return Remembered(
        schema_version=SCHEMA_VERSION,
        note_id=note.meta.id or path,
        action=CREATED,
        content_hash=note.content_hash,
        tags=note.meta.tags,
        created_at=iso(note.meta.created_at or created),
        path=path,
        etag=note.etag,
        type=note.meta.type,
        source_type=note.meta.source_type or source_type,
        warning=warnings(session_notes.warning(bank.layout, path, note.meta.source_type), unknown),
    )


def _text(content: str, metadata: Mapping[str, object], tags: Sequence[str]) -> str:
    """Return the text of a new note: the metadata is added to the content's front matter."""
    parts = frontmatter.split(content)
    if parts.format == "none":
        return frontmatter.compose(metadata, content)
    raw, faults = frontmatter.metadata(parts)
    if faults:
        raise BadInput(faults[0].reason, "repair the front matter, or omit it to get a new one")
    changes = {key: value for key, value in metadata.items() if key_of(raw, key) not in raw}
    if tags:
        changes[key_of(raw, "tags")] = list(dict.fromkeys([*read_meta(raw)[0].tags, *tags]))
    text = frontmatter.set_keys(content, changes)
    return text if text.endswith("\n") else f"{text}\n"
