"""Create a note with a given name, or many with given dates, ids and sources."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Annotated

from memory_bank.bank.bank import Bank
from memory_bank.bank.open_index import BY_HAND
from memory_bank.base import NamedTuple
from memory_bank.base.errors import BadInput, Conflict, MemoryBankError, NoteExists, UnreadableNote
from memory_bank.base.operation import LONGEST_NAME, Param, Tags, Tool, operation
from memory_bank.base.text import agent_name
from memory_bank.memory import views
from memory_bank.memory.alike import find_duplicates, link_duplicate
from memory_bank.memory.change import check_size
from memory_bank.memory.links import describe_dead_links
from memory_bank.memory.records import Draft, WrittenNote
from memory_bank.memory.remember import (
    DEFAULT_TYPE,
    check_content,
    check_source,
    choose_path,
    complete_draft,
    compose_note,
    merge_into,
    write_new,
)
from memory_bank.notes import front_matter, parsing
from memory_bank.notes.identity import content_hash
from memory_bank.notes.names import new_path
from memory_bank.notes.note import Meta
from memory_bank.notes.schema import check_type, known_type
from memory_bank.search.manifest import document_rows
from memory_bank.sessions.redaction import hide_private
from memory_bank.trust.author_keys import copy_author_keys
from memory_bank.trust.authors import join_warnings, name_writer, record_writes


@operation(
    "",
    view=views.view_remembered,
    tool=Tool(
        """Write a note where its path matters, one subject under a heading. Else `remember`.""",
        "bank",
        name="create_memory",
        takes={"filename": "name", "content": "content", "tags": "tags", "type": "type"},
        defaults={"type": "journal"},
        fixed={"source_type": "agent"},
    ),
)
def create(
    bank: Bank,
    name: Annotated[str, Param(longest=LONGEST_NAME, about="folder/words")],
    content: Annotated[str, Param()],
    *,
    tags: Tags = (),
    type: Annotated[str, Param()] = "",  # noqa: A002  (the field's word)
    source_type: str = "manual",
    source_agent: str = "",
) -> WrittenNote:
    """Create a note with a given name, even if another has the same content.

    Front matter in the content overrides the arguments, except an agent's author keys.

    Raises NoteExists when the name is taken, BadName, BadInput for empty content or tags, or for
    front matter that can't be parsed.
    """
    by_agent = source_type == "agent"
    content = hide_private(content)
    check_content(bank, content, by_agent=by_agent)
    check_source(source_type)
    by = name_writer(source_type, source_agent)
    if by is not None:
        source = {"source_type": source_type, "source_agent": agent_name(source_agent)}
        content = copy_author_keys(content, source)
    parts = front_matter.split(content)
    faults = front_matter.read_metadata(parts)[1]
    if faults and parts.format != "none":  # else it is a rule above the text
        raise BadInput(faults[0].reason, "repair the front matter, or omit it to get a new one")
    draft = Draft(
        parts.body,
        Meta(
            type=check_type(type),
            tags=tuple(tags),
            source_type=source_type,
            source_agent=source_agent,
        ),
        new_path(name, bank.layout),
        parts.opening + parts.block + parts.closing,
    )
    bank.catch_up()
    draft = complete_draft(bank, draft)
    remembered = write_new(bank, draft, content_hash(draft.content), None)
    bank.catch_up()
    unrecorded = record_writes(bank, [remembered.path, *(remembered.relinked or ())], by)
    dead = describe_dead_links(bank, remembered.path, content)
    return remembered._replace(warning=join_warnings(remembered.warning, unrecorded, dead))


REFUSED = "refused"

REFUSALS = (BadInput, NoteExists, UnreadableNote, Conflict)
"""Errors that refuse one draft; a storage error ends the whole write."""


class RefusedDraft(NamedTuple):
    """A draft that was not written, and why."""

    code: str
    """The error's code, such as `secret_found`."""
    reason: str
    hint: str = ""
    action: str = REFUSED


def remember_many(bank: Bank, drafts: Iterable[Draft]) -> list[WrittenNote | RefusedDraft]:
    """Write notes, or update those with the same content, and return the result of each.

    The results are in the order of the drafts. A draft that can't be written, for example because
    it contains a secret, gives a `RefusedDraft`; the others are written. The index is updated once,
    at the end. Raises BadInput when memory is turned off, StorageFailed.
    """
    bank.settings.check_enabled()
    drafts = list(drafts)  # before the lock is taken: the iterator may be slow
    with bank.lock, bank.store.writing():
        bank.catch_up()
        batch = _BulkWrite(bank)
        try:
            notes = [batch.write(draft) for draft in bank.counted("writing notes", drafts)]
        finally:
            bank.catch_up()
        unrecorded = batch.record()
    if not unrecorded:
        return notes
    return [
        note._replace(warning=join_warnings(note.warning, unrecorded.get(note.path)))
        if isinstance(note, WrittenNote)
        else note
        for note in notes
    ]


class _BulkWrite:
    """A bulk write to a bank whose lock is held."""

    def __init__(self, bank: Bank) -> None:
        self._bank = bank
        self._pending: set[str] = set()
        """Hashes of contents whose notes changed since the last update of the index."""
        self._ids: set[str] = set()
        self._changed: dict[str, list[str]] = {}
        """Agents, with the paths of the notes that they wrote."""

    def write(self, draft: Draft) -> WrittenNote | RefusedDraft:
        try:
            return self._write(draft)
        except REFUSALS as error:
            return report_refusal(error)

    def record(self) -> dict[str, str]:
        """Record which agents wrote; return the failures by path."""
        failed: dict[str, str] = {}
        for by, paths in self._changed.items():
            if reason := record_writes(self._bank, paths, by):
                failed |= dict.fromkeys(paths, reason)
        return failed

    def _write(self, draft: Draft) -> WrittenNote:
        bank = self._bank
        by = name_writer(draft.meta.source_type, draft.meta.source_agent)
        draft = _check_and_complete(bank, draft)
        text_hash = content_hash(draft.content)
        if text_hash in self._pending:
            bank.catch_up()
            self._pending.clear()
        duplicates = find_duplicates(bank, text_hash, choose_path(bank, draft))
        if duplicates.near is not None:
            remembered, changed = merge_into(bank, duplicates.near, draft)
        else:
            remembered = write_new(bank, draft, text_hash, duplicates.far, self._check_id)
            self._ids.add(remembered.note_id)
            changed = True
        if changed:
            self._pending.add(text_hash)
            if by is not None:
                paths = [remembered.path, *(remembered.relinked or ())]
                self._changed.setdefault(by, []).extend(paths)
        return link_duplicate(bank, duplicates, remembered)

    def _check_id(self, note_id: str) -> None:
        """Raise BadInput for the id of another note: it would no longer identify one note."""
        numbers = self._bank.read(lambda view: document_rows.known_as(view.manifest, [note_id]))
        if numbers or note_id in self._ids:
            raise BadInput(f"another note has the id {note_id!r}", "omit the id to get a new one")


def find_refusal(bank: Bank, draft: Draft) -> RefusedDraft | None:
    """Return why a draft with new content could not be written; None if it could."""
    try:
        draft = _check_and_complete(bank, draft)
        text = compose_note(draft, "", draft.meta.created_at or datetime.now(UTC))
        check_size(bank, text)
        path = choose_path(bank, draft)
        if draft.name:
            bank.store.check_new(path, text, caller_text=draft.content)
    except REFUSALS as error:
        return report_refusal(error)
    return None


def report_refusal(error: MemoryBankError) -> RefusedDraft:
    """Return an error as the result of a draft."""
    return RefusedDraft(error.code, error.message, error.hint)


def _check_and_complete(bank: Bank, draft: Draft) -> Draft:
    """Return a draft with defaults filled in; raise BadInput if it can't be written."""
    check_content(bank, draft.content)
    check_source(draft.meta.source_type or BY_HAND)
    parsing.encode_text(draft.meta.type)  # raises if it can't be a folder's name
    kind = known_type(draft.meta.type) or DEFAULT_TYPE
    return complete_draft(bank, draft._replace(meta=draft.meta._replace(type=kind)))
