"""Read from a bank's index what is published of it: the difference to what an engine has."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from blake3 import blake3

from memory_bank.bank.bank import Bank
from memory_bank.base import NamedTuple
from memory_bank.base.documents import Document
from memory_bank.base.errors import EmbedderUnavailable, Hint
from memory_bank.notes.characters import decode
from memory_bank.notes.secrets import secrets
from memory_bank.notes.source import READER
from memory_bank.search.document_changes import Progress
from memory_bank.search.index import IndexView
from memory_bank.search.manifest import document_rows, entries, link_rows, writer
from memory_bank.search.retrievers.base import TEXT_VERSION, IndexedPassage
from memory_bank.shared.engines.base import Position, PublishedNote, PublishedPassage
from memory_bank.shared.shared_hits import find_vector_index
from memory_bank.shared.word_weights import weigh_terms

if TYPE_CHECKING:
    from memory_bank.search.retrievers.vectors.vector_index import VectorIndex


FORMAT = 1
"""Version of what is published; after a change, everything is sent again."""

NONE = "none"
"""The embedder of an index without vectors."""

_KEPT = ("file_refs", "symbol_refs", "entity_refs", "source_type", "source_agent", "aliases")
"""Data of a note that are published as they are."""

# 128 bits don't collide by chance.
_KEY_BYTES = 16


class UnpublishedNote(NamedTuple):
    """A note that is not published."""

    path: str
    file: str
    reason: str


class Collected(NamedTuple):
    """The notes of a bank, and the passages of those that changed."""

    notes: Mapping[str, PublishedNote]
    """All that are published, by path."""
    changed: frozenset[str]
    """Paths of those that the engine does not have as they are."""
    passages: Sequence[PublishedPassage]
    """Of the changed ones."""
    refused: Sequence[UnpublishedNote]
    sessions: int
    """Number of notes of sessions, which are left out."""


def read_embedder(bank: Bank) -> tuple[str, int]:
    """Return the identity and the dimension of a bank's embedder; raise EmbedderUnavailable."""
    vectors = bank.read(find_vector_index)
    return (NONE, 0) if vectors is None else (vectors.embedder, vectors.dimension)


def collect_bank(
    bank: Bank, fields: Mapping[str, str], progress: Progress | None = None, folder: str = ""
) -> Collected:
    """Return what is published of an open bank, whose index is up to date.

    `known` are the hashes of notes that the engine has, by path; their passages are not read.
    `folder` is the project's below the repository, with a slash. Raises EmbedderUnavailable if
    vectors are missing.
    """
    return bank.read(lambda view: _collect(bank, view, fields, progress, folder))


def _collect(
    bank: Bank, view: IndexView, fields: Mapping[str, str], progress: Progress | None, folder: str
) -> Collected:
    rows = document_rows.all_documents(view.manifest)
    shared = [row for row in rows if not entries.is_of_session(row)]
    notes: dict[str, PublishedNote] = {}
    refused: list[UnpublishedNote] = []
    passages: list[PublishedPassage] = []
    changed: set[str] = set()
    links = _links_of(view)
    vectors = find_vector_index(view)
    if vectors is not None and (waiting := vectors.waiting()):
        raise EmbedderUnavailable(f"{waiting:,} passages have no vector yet", Hint.TEST_EMBEDDER)
    for number, row in enumerate(shared):
        if progress is not None:
            progress("reading notes", number, len(shared))
        note = _describe_note(row, folder + bank.roots.place(row.key), links.get(row.key))
        if fields.get(row.key) != note.hash:
            text = decode(bank.store.read_bytes(row.key)).text
            reason = secrets.why_private(row.key, text, bank.settings.secrets.allow)
            if reason:
                refused.append(UnpublishedNote(row.key, note.file, reason))
                continue
            changed.add(row.key)
            passages += _read_passages(view, row, vectors)
        notes[row.key] = note
    return Collected(notes, frozenset(changed), passages, refused, len(rows) - len(shared))


def _describe_note(
    row: Document, file: str, links: Sequence[tuple[str, str]] | None
) -> PublishedNote:
    data = row.data
    rest: dict[str, Any] = {key: data[key] for key in _KEPT if data.get(key)}
    if links:
        rest["links"] = links
    note = PublishedNote(
        path=row.key,
        file=file,
        id=row.id,
        title=row.title,
        type=str(data.get("type", "")),
        status=str(data.get("status", "active")),
        tags=tuple(sorted(data.get("tags", ()))),
        created=row.created,
        updated=row.updated,
        hidden=row.hidden,
        rest=rest,
        hash="",
    )
    formats = (FORMAT, READER, TEXT_VERSION, row.hash, *note)
    return note._replace(hash=_hash(formats))


def _read_passages(
    view: IndexView, row: Document, vectors: VectorIndex | None
) -> Iterator[PublishedPassage]:
    document = view.source.read(row.key)
    if not isinstance(document, Document):
        return
    passages = writer.read_entries(view.manifest, row.number, document)
    numbers = [entry.row for entry in passages]
    places = document_rows.read_passages(view.manifest, numbers)
    rows = vectors.vectors_of(numbers) if vectors is not None else {}
    counts: dict[str, int] = defaultdict(int)
    for entry in passages:
        place = places[entry.row]
        terms = weigh_terms(
            entry.title, entry.headings, entry.text, keywords=entry.keywords, about=entry.about
        )
        key = _key(row.key, entry)
        counts[key] += 1
        yield PublishedPassage(
            key=_hash((key, counts[key])) if counts[key] > 1 else key,
            path=row.key,
            position=Position(place.ordinal, place.line, place.end_line),
            headings=entry.headings,
            text=entry.text,
            words=entry.words,
            terms=terms,
            vector=rows.get(entry.row),
        )


def _links_of(view: IndexView) -> dict[str, list[tuple[str, str]]]:
    """Return the types and targets of each note's links."""
    links_by_note: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for row in link_rows.all_links(view.manifest):
        if row.ambiguous or not (row.dest_key or row.ghost):
            continue
        link = row.type, row.dest_key or f"ghost:{row.ghost}"
        if link not in links_by_note[row.source_key]:
            links_by_note[row.source_key].append(link)
    return links_by_note


def _key(path: str, entry: IndexedPassage) -> str:
    about = (FORMAT, TEXT_VERSION, path, entry.title, entry.headings, entry.text, entry.keywords)
    return _hash((*about, entry.about))


def _hash(values: Collection[object]) -> str:
    text = json.dumps(values, default=str, ensure_ascii=False)
    return str(blake3(text.encode("utf-8", "surrogatepass")).hexdigest(length=_KEY_BYTES))
