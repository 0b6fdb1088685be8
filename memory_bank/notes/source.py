"""The notes of a bank as a source of documents."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from memory_bank import notes
from memory_bank.errors import BadName, StorageFailed, UnreadableNote
from memory_bank.inotify import InotifyQueue
from memory_bank.notes import files
from memory_bank.notes.decoding import decode
from memory_bank.notes.file_scan import UNKNOWN, StatSignature, look, scan, signature_of, trusted
from memory_bank.notes.file_scan import Scan as FileScan
from memory_bank.notes.folders import held
from memory_bank.notes.identity import etag
from memory_bank.notes.link_targets import names_of, target_of
from memory_bank.notes.note import Meta, Note
from memory_bank.source import (
    Committed,
    Dates,
    Document,
    Fault,
    Link,
    Passage,
    Read,
    Scan,
    Section,
    Signature,
    Span,
    Unchanged,
    Unreadable,
    lines_between,
)

READER = "3"
"""Version of the parser: it changes whenever notes are parsed into other documents."""
ARCHIVED = "archived"
CONTENT = "content_hash"
"""The field with the first digits of a note's content hash."""
_CONTENT_DIGITS = 32
_MAX_UNPARSED_BYTES = 4_000_000
"""Maximum bytes of a note that exceeds the limits of `blocks`: a larger one would take over 5 s."""
_WRITING_SECONDS = 2.0
"""Seconds after the creation date of a new file in which its mtime is not an update."""


class History(Protocol):
    """The history of files in the repository."""

    def of(self, path: str) -> Committed | None:
        """Return the commits of a file, as of the last refresh; None if there are none."""

    @property
    def known(self) -> bool:
        """Whether there is a history that could be read."""

    def same(self, data: bytes, blob: bytes) -> bool:
        """Tell whether bytes are the content of a blob."""

    def refresh(self, *, again: bool = False) -> bool:
        """Read new commits; tell whether anything changed."""

    def close(self) -> None:
        """Close all files."""


class NotesSource:
    """The Markdown files below a folder."""

    name = "notes"
    fingerprint = READER

    def __init__(
        self, root: Path, *, prefix: str, max_bytes: int, history: History | None = None
    ) -> None:
        """Read the notes in `root`; larger ones than `max_bytes` are listed, not read.

        `prefix` is the bank's folder below its project: ".memories/", or empty. `history` has the
        dates of undated notes.
        """
        self._root = root
        self._prefix = prefix
        self._max_bytes = max_bytes
        self._history = history
        self._queue: InotifyQueue | None = None
        self._called = self._unavailable = False
        self.leftover: list[str] = []
        """Temporary files that the last scan found."""

    def scan(self) -> Scan:
        """Return the signatures of all notes.

        Raises StorageFailed for a folder that can't be read (its notes are not gone) and NoBank
        when the root itself is missing.
        """
        found = scan(self._root)
        self.leftover = found.leftover
        return Scan(self._signatures(found), found.refused)

    def look(self, keys: Collection[str]) -> Scan | None:
        """Return the signatures of some notes; None if a file exists but can't be a note."""
        found = look(self._root, keys)
        if found is None:
            return None
        return Scan(self._signatures(found))

    def changes(self) -> frozenset[str] | None:
        """Return the notes that inotify reports as changed since the last call.

        Watching starts at the second call, since a process with one query needs none.
        """
        reported = self._queue.read() if self._queue else None
        if reported is None:
            self._watch()
        return reported

    def refresh(self, *, again: bool = False) -> bool:
        """Read the dates of undated notes from git; tell whether any changed."""
        return self._history is not None and self._history.refresh(again=again)

    def read(self, key: str, known: str = "") -> Read:
        """Read a note."""
        try:
            with held(self._root, key) as file:
                found = signature_of(file.stat())
                if found is None:
                    return None
                if found[0] > self._max_bytes:
                    reason = f"{found[0]} bytes, more than the setting max_note_bytes ="
                    signature = self._trusted_signature(key, found)
                    return Unreadable(f"{reason} {self._max_bytes}", signature, size=found[0])
                try:
                    data = files.read(file)
                except StorageFailed as error:
                    return Unreadable(error.message, UNKNOWN, size=found[0])
        except (FileNotFoundError, NotADirectoryError, BadName):
            return None  # BadName: a symbolic link in the path
        return None if data is None else self._parsed(key, data, found, known)

    def _parsed(self, key: str, data: bytes, found: StatSignature, known: str) -> Read:
        signature, hashed = self._trusted_signature(key, found), etag(data)
        try:
            if hashed == known:
                meta = notes.note_parser.front_matter(data)
                return Unchanged(signature, self._dates(meta, key, found, data))
            if found[0] > _MAX_UNPARSED_BYTES:
                text = decode(data).text
                if excess := notes.blocks.exceeded_limit(
                    text, notes.note_parser.count_lines(text) + 1
                ):
                    reason = f"{excess}, in more than {_MAX_UNPARSED_BYTES:,} bytes"
                    return Unreadable(reason, signature, hashed, found[0])
            note = notes.note_parser.parse(key, data)
        except UnreadableNote as error:
            return Unreadable(error.message, signature, hashed, found[0])
        return document_of(note, self._dates(note.meta, key, found, data), self._prefix, signature)

    def text(self, key: str, hash: str, span: Span) -> str | None:  # noqa: A002  (the contract's word)
        """Return some lines of a note; None if its bytes have changed."""
        try:
            data = files.read_in(self._root, key)
        except BadName:
            return None
        if data is None or etag(data) != hash:
            return None
        return lines_between(decode(data).text, span)

    def close(self) -> None:
        """Stop watching, and close all files."""
        if self._queue is not None:
            self._queue.close()
            self._queue = None
        if self._history is not None:
            self._history.close()
        self._called = self._unavailable = False

    def _watch(self) -> None:
        if self._queue is not None:
            self._queue.close()
            self._queue = None
        if self._called and not self._unavailable:
            self._queue = InotifyQueue.at(self._root)
            self._unavailable = self._queue is None
        self._called = True

    def _signatures(self, found: FileScan) -> dict[str, Signature]:
        return {path: self._signature(path, stat) for path, stat in found.files.items()}

    def _signature(self, path: str, found: StatSignature) -> Signature:
        """Return the signature of a file and of its commits."""
        committed = self._history.of(path) if self._history else None
        more = (committed.first, committed.last, committed.blob.hex()) if committed else ()
        return ".".join(map(str, (*found, *more)))

    def _trusted_signature(self, path: str, found: StatSignature) -> Signature:
        return self._signature(path, found) if trusted(found) else UNKNOWN

    def _dates(self, meta: Meta, path: str, found: StatSignature, data: bytes) -> Dates:
        """Return when a note was created and updated.

        Created: the date in the front matter, else of the first commit, else the file's mtime.
        Updated: the latest of the date in the front matter (else the creation), of the last commit,
        and, if the file differs from HEAD, of its mtime, which a checkout or a copy also sets.
        """
        committed = self._history.of(path) if self._history else None
        mtime = found[1] / 1e9
        if meta.created_at is not None:
            created = meta.created_at.timestamp()
        else:
            created = committed.first if committed else mtime
        moments = [meta.updated_at.timestamp() if meta.updated_at else created]
        if committed and committed.last > committed.first:
            moments.append(committed.last)
        if self._edited(committed, data, meta, created, mtime):
            moments.append(mtime)
        return Dates(created, max(moments))

    def _edited(
        self,
        committed: Committed | None,
        data: bytes,
        meta: Meta,
        created: float,
        mtime: float,
    ) -> bool:
        """Tell whether a file's mtime is that of an edit."""
        if self._history is None:
            return False
        if committed and committed.blob:
            return not self._history.same(data, committed.blob)
        return (
            meta.updated_at is None and mtime > created + _WRITING_SECONDS and self._history.known
        )


def document_of(note: Note, dates: Dates, prefix: str, signature: Signature) -> Document:
    """Return a note as a document; `prefix` is the bank's folder below its project."""
    meta = note.meta
    return Document(
        key=note.path,
        hash=note.etag,
        title=note.title,
        passages=tuple(
            Passage(found.line, found.end_line, found.text, ordinal)
            for ordinal, section in enumerate(note.body.sections)
            for found in notes.passages.passages(section)
        ),
        id=meta.id,
        fields=tuple(dict.fromkeys(_fields(note))),
        data=_data(note),
        about=_about(note),
        dates=dates,
        hidden=meta.status == ARCHIVED,
        sections=tuple(
            Section(section.line, section.end_line, section.headings)
            for section in note.body.sections
        ),
        links=tuple(_links(note, prefix)),
        names=tuple(names_of(note)),
        anchors=tuple((block.casefold(), line) for block, line in note.body.blocks.items()),
        faults=tuple(Fault(fault.reason, fault.line) for fault in note.faults),
        size=note.size,
        signature=signature,
    )


def content_field(content_hash: str) -> str:
    """Return the value of the field CONTENT for a content hash."""
    return content_hash[:_CONTENT_DIGITS]


def _fields(note: Note) -> Iterator[tuple[str, str]]:
    meta = note.meta
    yield CONTENT, content_field(note.content_hash)
    yield "status", meta.status.casefold()
    yield "type", meta.type.casefold()
    if meta.source_type:
        yield "source_type", meta.source_type.casefold()
    for tag in meta.tags:
        yield "tag", tag
    yield from _extra(meta.extra)


def _data(note: Note) -> dict[str, Any]:
    meta = note.meta
    data = {
        "type": meta.type,
        "status": meta.status,
        "tags": meta.tags,
        "source_type": meta.source_type,
        "source_agent": meta.source_agent,
        "aliases": meta.aliases,
        "file_refs": meta.file_refs,
        "symbol_refs": meta.symbol_refs,
        "entity_refs": [entity._asdict() for entity in meta.entity_refs],
        "extra": meta.extra,
        "content_hash": note.content_hash,
    }
    return {key: value for key, value in data.items() if value}


def _links(note: Note, prefix: str) -> Iterator[Link]:
    for link in note.body.links:
        target = target_of(link, note.path, prefix)
        yield Link(
            line=link.line,
            kind=link.kind,
            type=link.type,
            target=link.target,
            names=target.names,
            ghost=target.ghost,
            heading=link.heading,
            anchor=link.block,
            text=link.text,
            before=link.before,
            after=link.after,
        )


def _about(note: Note) -> str:
    """Return the words of the front matter, except the title, and of the path, for lookup."""
    meta = note.meta
    words = [*meta.tags, note.name, meta.type, *meta.aliases, *meta.file_refs, *meta.symbol_refs]
    words += [f"{entity.kind} {entity.id}" for entity in meta.entity_refs]
    words += [f"{key} {value}" for key, value in _extra(meta.extra)]
    return "\n".join(word for word in words if word)


def _extra(extra: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    for key, value in extra.items():
        for item in value if isinstance(value, list | tuple) else (value,):
            if isinstance(item, datetime):
                yield key.casefold(), item.isoformat()
            elif item is not None and not isinstance(item, Mapping):
                yield key.casefold(), str(item).casefold()
