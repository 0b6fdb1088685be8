"""Read the manifest's documents as notes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import Any, NamedTuple

from memory_bank.errors import BadName, NoteNotFound
from memory_bank.filenames import is_utf8
from memory_bank.hints import Hint
from memory_bank.manifest import documents, link_resolution
from memory_bank.manifest.documents import DocumentRow
from memory_bank.manifest.manifest import Manifest
from memory_bank.notes.link_targets import path_names
from memory_bank.notes.name_forms import record_asked
from memory_bank.notes.names import key, name_of, path_of, without_id_start
from memory_bank.notes.source import CONTENT, content_field
from memory_bank.retrievers.base import Scope
from memory_bank.similar_names import similar_names

_NO_DATES: Mapping[str, float] = MappingProxyType({})
BY_HAND = "manual"
"""Source of a note without `source_type`: a person wrote it."""


class NoteRow(NamedTuple):
    """The manifest's row of a note."""

    number: int
    path: str
    etag: str
    size: int
    id: str
    title: str
    type: str
    status: str
    created: float
    updated: float
    content_hash: str
    source_type: str
    rest: Mapping[str, Any]
    """Front matter beyond these: file_refs, symbol_refs, entity_refs, aliases, extra …"""
    tags: tuple[str, ...]

    @property
    def key(self) -> str:
        """The note's name in the logs of activity: its id, else its path."""
        return self.id or self.path


def note_of(row: DocumentRow) -> NoteRow:
    """Return a document as a note."""
    data = row.data
    return NoteRow(
        number=row.number,
        path=row.key,
        etag=row.hash,
        size=row.size,
        id=row.id,
        title=row.title,
        type=str(data.get("type", "")),
        status=str(data.get("status", "active")),
        created=row.created,
        updated=row.updated,
        content_hash=str(data.get("content_hash", "")),
        source_type=str(data.get("source_type", "")),
        rest=data,
        tags=tuple(sorted(data.get("tags", ()))),
    )


def note_at(manifest: Manifest, path: str) -> NoteRow | None:
    """Return the note at a path."""
    row = documents.document_at(manifest, path)
    return note_of(row) if row else None


def with_content(manifest: Manifest, content_hash: str) -> list[NoteRow]:
    """Return the notes with a content that are not archived, the oldest first."""
    found = documents.with_field(manifest, CONTENT, content_field(content_hash))
    return [note_of(row) for row in found if row.data.get("content_hash") == content_hash]


def newest(
    manifest: Manifest, scope: Scope, limit: int, written: Mapping[str, float] = _NO_DATES
) -> list[NoteRow]:
    """Return the notes in scope that were created or updated last; see `documents.newest`."""
    return [note_of(row) for row in documents.newest(manifest, scope, limit, written)]


def updated_by(note: NoteRow, written: Mapping[str, float]) -> NoteRow:
    """Return a note with the later of its time of update and that in `written`."""
    return note._replace(updated=max(note.updated, written.get(note.key, 0.0)))


def candidates(manifest: Manifest, name: str) -> list[str]:
    """Return the paths of the notes with a name: several if it is ambiguous."""
    if not is_utf8(name):
        return []
    try:
        exact = path_of(name)
    except BadName:
        exact = ""
    for path in (name, exact):  # first unchanged: existing files may have any name
        if path and link_resolution.has_key(manifest, path):
            return [path]
    return link_resolution.keys_of(manifest, key(name))


def _nearly_named(manifest: Manifest, name: str) -> list[str]:
    """Return the decision records with a number, else the notes named so and by an id's start."""
    number = record_asked(name, bare=True)
    found = link_resolution.keys_of(manifest, number) if number else []
    if found or not name:
        return found
    for _, path in documents.all_keys(manifest):
        whole = key(path)
        stem = without_id_start(whole)
        if stem != whole and f"/{stem}".endswith(f"/{name}"):
            found.append(path)
    return found


def path_named(
    manifest: Manifest, forms: Sequence[str], *, exactly: bool = False
) -> str | NoteNotFound:
    """Return the path of the note that the first known form of a name means, or an error.

    If `exactly`, a note that nearly has the name is in the hint of the error only.
    """
    exact = (candidates(manifest, form) for form in forms)
    nearly = (_nearly_named(manifest, key(form)) for form in forms if is_utf8(form))
    paths = next(filter(None, exact if exactly else chain(exact, nearly)), [])
    if len(paths) == 1:
        return paths[0]
    if paths:
        message = f"{forms[0]!r} may mean {len(paths)} notes"
        return NoteNotFound(message, "say which: {paths}", paths=", ".join(paths[:8]))
    known = map(name_of, next(filter(None, nearly), []))
    near = ", ".join(dict.fromkeys([*known, *similar(manifest, forms[0])]))
    hint = "did you mean {near}?" if near else Hint.LIST_NOTES
    return NoteNotFound(f"there is no note {forms[0]!r}", hint, near=near)


def similar(manifest: Manifest, name: str, most: int = 3) -> list[str]:
    """Return the names of notes that are similar to a name."""
    paths = {
        word: name_of(row.key)
        for row in documents.all_documents(manifest)
        for word, _ in path_names(row.key, row.data.get("aliases", ()))
    }
    near = similar_names(key(name), paths, most=most)
    return list(dict.fromkeys(paths[word] for word in near))
