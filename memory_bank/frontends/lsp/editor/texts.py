"""The texts of notes as an editor has them: unsaved ones first, else the files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import NamedTuple

from memory_bank.bank.bank import Bank
from memory_bank.base.errors import MemoryBankError
from memory_bank.frontends.lsp.editor.outline import Latest
from memory_bank.notes import parsing
from memory_bank.notes.links import front_matter_links, locate_whole_links
from memory_bank.notes.note import Note, NoteLink

_NONE: Mapping[str, str] = MappingProxyType({})


class WrittenLink(NamedTuple):
    """A link with the offsets of its target and of all of it in the note's text."""

    link: NoteLink
    start: int
    end: int
    first: int
    last: int

    def holds(self, offset: int) -> bool:
        """Tell whether a cursor at an offset is on the link, or on its target."""
        return self.first <= offset <= self.last or self.start <= offset <= self.end


_PARSED: Latest[tuple[str, bytes], Note] = Latest(256)

_LINKS: Latest[Note, tuple[WrittenLink, ...]] = Latest(256)
"""The latest texts of notes as parsed, and their links."""


class Texts:
    """The notes of a bank, as parsed from unsaved texts and from files."""

    def __init__(self, bank: Bank, unsaved: Mapping[str, str] = _NONE) -> None:
        """Take the bank, and the texts of the notes that are open in the editor, by path."""
        self.bank = bank
        self.unsaved = unsaved

    def note(self, path: str) -> Note | None:
        """Return a note; None if it does not exist or can't be read."""
        with suppress(MemoryBankError):
            return self.read(path)
        return None

    def read(self, path: str) -> Note:
        """Return a note; raise NoteNotFound, UnreadableNote."""
        text = self.unsaved.get(path)
        if text is not None:
            data = text.encode("utf-8", errors="replace")
        else:
            data = self.bank.store.read_bytes(path)
        key = f"{self.bank.layout.root}/{path}"
        return _PARSED.get(key, (path, data), lambda: parsing.parse(path, data))


def file_of(bank: Bank, path: str) -> str:
    """Return the absolute path of a note's file."""
    return str(bank.roots.file(path))


def links_of(note: Note) -> tuple[WrittenLink, ...]:
    """Return the links that are written in a note: of its text, and references of front matter."""
    return _LINKS.get(note.path, note, lambda: tuple(_links(note)))


def link_at(note: Note, offset: int) -> WrittenLink | None:
    """Return the link at an offset."""
    return next((one for one in links_of(note) if one.holds(offset)), None)


def _links(note: Note) -> Iterator[WrittenLink]:
    head = note.text[: note.body_start]
    for file in note.meta.file_refs:
        if place := re.search(rf"(?<![\w/.-]){re.escape(file)}(?![\w/.-])", head):
            line = 1 + parsing.count_lines(head[: place.start()])
            link = NoteLink(file, "reference", line, "mentions", names_file=True)
            yield WrittenLink(link, *place.span(), *place.span())
    for link, start, end, _ in front_matter_links(head):
        first, last = head.rfind("[[", 0, start), head.find("]]", end)
        yield WrittenLink(link, start, end, first, last + 2)
    first_line = 1 + parsing.count_lines(head)
    for link, *places in locate_whole_links(note.text[note.body_start :], first_line):
        start, end, first, last = (note.body_start + place for place in places)
        yield WrittenLink(link, start, end, first, last)
