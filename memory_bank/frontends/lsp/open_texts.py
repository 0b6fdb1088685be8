"""The texts of notes and source files as an editor has them, each parsed once."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Generic, TypeVar

from memory_bank.bank.bank import Bank
from memory_bank.base.documents import Link
from memory_bank.base.errors import MemoryBankError
from memory_bank.code.languages.base import detect_language
from memory_bank.code.parse import parsing as code_parsing
from memory_bank.code.parse.parsed_file import ParsedFile
from memory_bank.notes import parsing
from memory_bank.notes.links import WholeLink, front_matter_links, locate_links
from memory_bank.notes.note import Note

Text = TypeVar("Text")

Value = TypeVar("Value")


class LastAnswer(Generic[Text, Value]):
    """Values by file. Each text of a file replaces the one before, however long it is."""

    def __init__(self, most: int) -> None:
        """Keep the values of at most so many files, those used last."""
        self._most = most
        self._lock = threading.Lock()
        self._kept: dict[str, tuple[Text, Value]] = {}

    def get(self, file: str, text: Text, compute: Callable[[], Value]) -> Value:
        """Return the value of a file's text; it is computed if the text is not the latest one."""
        with self._lock:
            cached = self._kept.pop(file, None)
            if cached is not None and cached[0] == text:
                self._kept[file] = cached
                return cached[1]
        value = compute()
        with self._lock:
            self._kept.pop(file, None)
            self._kept[file] = text, value
            while len(self._kept) > self._most:
                del self._kept[next(iter(self._kept))]
        return value


_SOURCES: LastAnswer[tuple[str, str], ParsedFile] = LastAnswer(64)

MAX_CHARACTERS = 1_000_000
"""Characters of a source file that is parsed in an editor."""


def parse_text(path: str, text: str) -> ParsedFile | None:
    """Return what is in a text with the name of a file; None for an unknown language."""
    first, _, _ = text[:200].partition("\n")
    language = detect_language(path, first)
    if language is None or len(text) > MAX_CHARACTERS:
        return None

    def parse() -> ParsedFile:
        return code_parsing.parse(text.encode("utf-8", errors="replace"), language)

    return _SOURCES.get(path, (text, language), parse)


_NONE: Mapping[str, str] = MappingProxyType({})


_PARSED: LastAnswer[tuple[str, bytes], Note] = LastAnswer(256)

_LINKS: LastAnswer[Note, tuple[WholeLink, ...]] = LastAnswer(256)
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


def note_file(bank: Bank, path: str) -> str:
    """Return the absolute path of a note's file."""
    return str(bank.roots.file(path))


def read_links(note: Note) -> tuple[WholeLink, ...]:
    """Return the links that are written in a note: of its text, and references of front matter."""
    return _LINKS.get(note.path, note, lambda: tuple(_yield_links(note)))


def link_at(note: Note, offset: int) -> WholeLink | None:
    """Return the link at an offset."""
    return next((link for link in read_links(note) if link.holds(offset)), None)


def _yield_links(note: Note) -> Iterator[WholeLink]:
    head = note.text[: note.body_start]
    for file in note.meta.file_refs:
        if match := re.search(rf"(?<![\w/.-]){re.escape(file)}(?![\w/.-])", head):
            line = 1 + parsing.count_lines(head[: match.start()])
            link = Link(file, "reference", line, "mentions", names_file=True)
            yield WholeLink(link, *match.span(), *match.span())
    for link, start, end, _ in front_matter_links(head):
        first, last = start, end
        if head[:start].rstrip().endswith("[["):
            first, last = head.rfind("[[", 0, start), head.find("]]", end) + 2
        yield WholeLink(link, start, end, first, last)
    first_line = 1 + parsing.count_lines(head)
    for link, *places in locate_links(note.text[note.body_start :], first_line):
        start, end, first, last = (note.body_start + match for match in places)
        yield WholeLink(link, start, end, first, last)
