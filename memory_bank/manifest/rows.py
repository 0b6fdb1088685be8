"""A note as the rows of the manifest's tables: plain tuples, which another process can make."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from memory_bank.manifest.database import SEPARATOR
from memory_bank.manifest.link_targets import names_of, target_of
from memory_bank.notes.scan import Stamp
from memory_bank.retrievers.base import Entry

if TYPE_CHECKING:
    from memory_bank.notes.note import Note, Passage

# What code has and Markdown's own marks are not: brackets of links and stars of emphasis made a
# talk's turns look like code, whose meaning weighs several times as much.
_SIGN = re.compile(r"[(){}=;<>_]")

_TAGS_EACH = 50
"""Tags that go with each passage but the first: more are no subject of it."""

Row = tuple[Any, ...]


class Dating(NamedTuple):
    """What a note's dates are made of; times in seconds since the epoch."""

    created: float
    dated: int
    """Who said when it was created: BY_NOTE, BY_GIT (its first commit) or BY_FILE (mtime)."""
    said: float | None
    """When it was updated, if it says so itself."""
    modified: float
    """The file's mtime."""
    blob: bytes
    """The file's bytes, as git names them."""


class NoteRows(NamedTuple):
    """What the manifest and the retrievers are given of a note; its numbers are still missing.

    Columns stand in the order of the tables, the note's number left out.
    """

    path: str
    stamp: Stamp
    etag: str
    said: Row
    """note_id, title, type, status, the fields of `Dating`, content_hash, source_type, meta."""
    tags: tuple[str, ...]
    fields: Sequence[Row]
    names: Sequence[Row]
    sections: Sequence[Row]
    passages: Sequence[Row]
    """section, line, end_line, words, signs (a thousandth each)."""
    texts: Sequence[str]
    """The passages' texts."""
    headings: Sequence[tuple[str, ...]]
    """The headings above each passage."""
    about: str
    """Other words of the front matter, and the path."""
    blocks: Sequence[Row]
    links: Sequence[Row]
    faults: Sequence[Row]

    @property
    def title(self) -> str:
        """The note's title."""
        return str(self.said[1])


def rows_of(note: Note, stamp: Stamp, dating: Dating, project_prefix: str) -> NoteRows:
    """Write a note as rows; `project_prefix` is the bank's folder below its project."""
    places = _places(note)
    return NoteRows(
        path=note.path,
        stamp=stamp,
        etag=note.etag,
        said=_said(note, dating),
        tags=note.meta.tags,
        fields=list(_fields(note.meta.extra)),
        names=list(names_of(note)),
        sections=[
            (ordinal, section.line, section.end_line, SEPARATOR.join(section.headings))
            for ordinal, section in enumerate(note.body.sections)
        ],
        passages=[
            (section, found.line, found.end_line, _count(found.text), _signs(found.text))
            for section, _, found in places
        ],
        texts=[found.text for _, _, found in places],
        headings=[headings for _, headings, _ in places],
        about=_about(note),
        blocks=[(block.casefold(), line) for block, line in note.body.blocks.items()],
        links=list(_links(note, project_prefix)),
        faults=[(fault.line, fault.reason) for fault in note.faults],
    )


def entries(rows: NoteRows, note: int, numbers: Iterable[int]) -> Iterator[Entry]:
    """Yield what retrievers are given of a note's passages, which have these row numbers."""
    about, tags = rows.about, rows.tags
    places = zip(rows.texts, rows.headings, rows.passages, numbers, strict=False)
    for text, headings, passage, number in places:
        yield Entry(number, note, rows.title, headings, tags, text, passage[3], about)
        about, tags = "", tags[:_TAGS_EACH]


def _said(note: Note, dating: Dating) -> Row:
    meta = note.meta
    rest = {
        "source_agent": meta.source_agent,
        "aliases": meta.aliases,
        "file_refs": meta.file_refs,
        "symbol_refs": meta.symbol_refs,
        "entity_refs": [entity._asdict() for entity in meta.entity_refs],
        "extra": meta.extra,
    }
    said = {key: value for key, value in rest.items() if value}
    return (
        meta.id, note.title, meta.type, meta.status, *dating, bytes.fromhex(note.content_hash),
        meta.source_type, json.dumps(said, ensure_ascii=False, allow_nan=False) if said else "{}",
    )  # fmt: skip


def _places(note: Note) -> list[tuple[int, tuple[str, ...], Passage]]:
    """List a note's passages with their sections; an empty note has one, to be found by title."""
    from memory_bank.notes.note import Passage  # start-up: questions need neither
    from memory_bank.notes.passages import passages

    return [
        (ordinal, section.headings, passage)
        for ordinal, section in enumerate(note.body.sections)
        for passage in passages(section)
    ] or [(-1, (), Passage(1, 1, ""))]


def _links(note: Note, project_prefix: str) -> Iterator[Row]:
    for link in note.body.links:
        target = target_of(link, note.path, project_prefix)
        yield (
            link.line, link.kind, link.type, link.target, target.first, target.second, target.ghost,
            link.heading, link.block, link.text, link.before, link.after,
        )  # fmt: skip


def _count(text: str) -> int:
    """Count a text's words, about."""
    return text.count(" ") + text.count("\n") + 1


def _signs(text: str) -> int:
    """Return how many thousandths of a text's characters are those of code, not of prose."""
    dense = "".join(text.split())
    return round(1000 * len(_SIGN.findall(dense)) / max(len(dense), 1))


def _about(note: Note) -> str:
    """Gather what front matter says beyond title and tags, and the note's path: found by words."""
    meta = note.meta
    words = [note.name, meta.type, *meta.aliases, *meta.file_refs, *meta.symbol_refs]
    words += [f"{entity.kind} {entity.id}" for entity in meta.entity_refs]
    words += [f"{key} {value}" for key, value in _fields(meta.extra)]
    return "\n".join(word for word in words if word)


def _fields(extra: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    for key, value in extra.items():
        for item in value if isinstance(value, list | tuple) else (value,):
            if isinstance(item, datetime):
                yield key.casefold(), item.isoformat()
            elif item is not None and not isinstance(item, Mapping):
                yield key.casefold(), str(item).casefold()
