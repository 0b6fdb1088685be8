"""The immutable records of a parsed Markdown file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from memory_bank.base import NamedTuple
from memory_bank.base.documents import Fault, Link, Section
from memory_bank.base.errors import Conflict, Hint, NoteNotFound

_NOTHING: Mapping[str, Any] = {}
"""Nothing writes to it. A mappingproxy could not be pickled."""

RELATIVE_KINDS = frozenset({"markdown", "image"})
"""Kinds of links whose target is a path from the note's folder: `[](x.md)` and `![](x.png)`."""


class Entity(NamedTuple):
    """A thing outside the bank that a note is about: a person, a clause, a ticket."""

    kind: str
    id: str


class Meta(NamedTuple):
    """The values of front matter by our names; `extra` has the user's own keys."""

    id: str = ""
    title: str = ""
    type: str = ""
    status: str = "active"
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    created_at: datetime | None = None
    updated_at: datetime | None = None
    source_type: str = ""
    source_agent: str = ""
    entity_refs: tuple[Entity, ...] = ()
    file_refs: tuple[str, ...] = ()
    symbol_refs: tuple[str, ...] = ()
    extra: Mapping[str, object] = _NOTHING

    def __hash__(self) -> int:
        """Hash all but the user's own keys, so that a note in an answer can be in a set."""
        return hash(self[:-1])


def write_data(meta: Meta) -> dict[str, Any]:
    """Return front matter as JSON has it in an index: what is empty is left out."""
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
    }
    return {key: value for key, value in data.items() if value}


def read_data(data: Mapping[str, Any]) -> Meta:
    """Return the front matter that `write_data` wrote; its tags are sorted."""
    return Meta(
        type=str(data.get("type", "")),
        status=str(data.get("status", "active")),
        tags=tuple(sorted(data.get("tags", ()))),
        aliases=tuple(data.get("aliases", ())),
        source_type=str(data.get("source_type", "")),
        source_agent=str(data.get("source_agent", "")),
        entity_refs=tuple(Entity(**entity) for entity in data.get("entity_refs", ())),
        file_refs=tuple(data.get("file_refs", ())),
        symbol_refs=tuple(data.get("symbol_refs", ())),
        extra=data.get("extra") or _NOTHING,
    )


class Body(NamedTuple):
    """The parsed Markdown: sections in order, links, block ids, inline tags."""

    sections: tuple[Section, ...]
    links: tuple[Link, ...] = ()
    blocks: Mapping[str, int] = _NOTHING
    """Block id (without the caret) to its line."""
    tags: tuple[str, ...] = ()
    title: str = ""
    """The text of the first heading when it is of level 1, else empty."""
    faults: tuple[Fault, ...] = ()
    first: str = ""
    """The first sentence, which names a note without a heading; empty behind a heading."""


class Note(NamedTuple):
    """One Markdown file, read tolerantly."""

    name: str
    """Path below the bank without `.md`, always with forward slashes."""
    path: str
    """Path below the bank, always with forward slashes."""
    meta: Meta
    body: Body
    text: str
    """The decoded file without its byte order mark; front matter included."""
    body_start: int
    """Offset in `text` where the body starts, behind the front matter."""
    etag: str
    """BLAKE3 of the file's bytes, hex."""
    content_hash: str
    """BLAKE3 of the normalised body, hex."""
    size: int
    faults: tuple[Fault, ...] = ()
    writable: bool = True
    """False when a fault means that a rewrite could lose something."""

    @property
    def body_text(self) -> str:
        """The text behind the front matter."""
        return self.text[self.body_start :]

    @property
    def title(self) -> str:
        """The key `title`, else the first heading if of level 1, the first sentence, the name."""
        title = self.meta.title or self.body.title
        return title or self.body.first or self.name.rpartition("/")[2]


def find_section(sections: Sequence[Section], heading: str) -> Section:
    """Return the section of a heading, given by its text or its path `A > B`.

    Raises NoteNotFound when there is none, Conflict when there are several.
    """
    path = [_fold_heading(part) for part in heading.split(">")]
    matches = [
        section
        for section in sections
        if section.level and list(map(_fold_heading, section.headings[-len(path) :])) == path
    ]
    if not matches:
        text = ", ".join(section.headings[-1] for section in sections if section.level)
        raise NoteNotFound(
            f"there is no heading {heading!r} in the note",
            "it has: {headings}",
            headings=text or "none",
        )
    if len(matches) > 1:
        lines = ", ".join(str(section.line) for section in matches)
        raise Conflict(f"the heading {heading!r} occurs on lines {lines}", Hint.GIVE_HEADING_PATH)
    return matches[0]


def _fold_heading(heading: str) -> str:
    return heading.strip().lstrip("#").strip().casefold()
