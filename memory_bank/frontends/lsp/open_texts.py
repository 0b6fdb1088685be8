"""The texts of notes and source files as an editor has them, and where the links of a note lead."""

from __future__ import annotations

import posixpath
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Generic, TypeVar

from memory_bank.bank import open_index
from memory_bank.bank.backlinks import resolve_links
from memory_bank.bank.bank import Bank
from memory_bank.base import NamedTuple, lazy_pattern
from memory_bank.base.documents import Link, Section
from memory_bank.base.errors import MemoryBankError
from memory_bank.code.languages.base import detect_language
from memory_bank.code.parse import parsing as code_parsing
from memory_bank.code.parse.parsed_file import ParsedFile, Symbol
from memory_bank.git import repository
from memory_bank.notes import parsing
from memory_bank.notes.characters import written_words
from memory_bank.notes.link_targets import TargetNames
from memory_bank.notes.links import WholeLink, front_matter_links, locate_links
from memory_bank.notes.note import Note
from memory_bank.search.index import IndexView
from memory_bank.search.manifest import link_rows

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
    for link, *places in locate_links(note.body_text, first_line):
        start, end, first, last = (note.body_start + match for match in places)
        yield WholeLink(link, start, end, first, last)


MAX_SOURCES = 2_000
"""Notes that are read to list the links to one note; links of further notes are not listed."""

_PLACE = lazy_pattern(r"(.+?):(\d{1,9})(?::\d+)?")
"""A file with a line."""


class LinkTarget(NamedTuple):
    """What a link leads to: a note, a file of the project, or neither."""

    path: str = ""
    """The note's path."""
    file: str = ""
    """The absolute path of the file; empty if there is none."""
    line: int = 1
    problem: str = ""
    """Why the link leads nowhere certain: several notes, or no such heading or block."""
    candidates: tuple[str, ...] = ()
    """The paths of the notes that an ambiguous link may mean."""
    ghost: str = ""
    """The name of the link if no note has it."""


def leads_to(texts: Texts, path: str, links: Sequence[Link]) -> list[LinkTarget]:
    """Return where links of the note at `path` lead."""
    meanings = resolve_links(texts.bank, path, links)
    return [
        _find_target(texts, path, link, target, paths)
        for link, (target, paths) in zip(links, meanings, strict=True)
    ]


def list_goals(texts: Texts, path: str, note: Note) -> list[tuple[WholeLink, LinkTarget]]:
    """Return the written links of a note, each with where it leads."""
    written = read_links(note)
    return list(zip(written, leads_to(texts, path, [link.link for link in written]), strict=True))


def section_at(note: Note, heading: str) -> Section | None:
    """Return the section of a heading as a link names it: its text, path `A#B`, or slug."""
    folded_parts = [_fold_text(part) for part in heading.split("#") if part.strip()]
    if not folded_parts:
        return None
    sections = [section for section in note.body.sections if section.level]
    for section in sections:
        if [_fold_text(name) for name in section.headings[-len(folded_parts) :]] == folded_parts:
            return section
    last = folded_parts[-1]
    for fits in (_fold_text, _slug, link_rows.heading_words):
        nearest = next(
            (section for section in sections if fits(section.headings[-1]) == fits(last)), None
        )
        if nearest:
            return nearest
    words = written_words(last)  # of a heading with links, as Obsidian writes them
    lines = ((section, section.text.partition("\n")[0]) for section in sections)
    return next((section for section, line in lines if written_words(line) == words), None)


def block_line(note: Note, block: str) -> int | None:
    """Return the line of a block id."""
    folded = block.casefold()
    return next(
        (line for name, line in note.body.blocks.items() if name.casefold() == folded), None
    )


def find_references(
    texts: Texts, goal: LinkTarget, *, heading: str = "", block: str = ""
) -> list[tuple[str, int, int]]:
    """Return the links to a goal's note, or to the file or ghost that it is: paths and offsets.

    With `heading` or `block`, only the links to that part of the note.
    """
    references = []
    for source in list_sources(texts, goal, itself=True)[:MAX_SOURCES]:
        note = texts.note(source)
        if note is None:
            continue
        for written, target in list_goals(texts, source, note):
            is_meant = target.path == goal.path if goal.path else _same_ghost(target, goal)
            elsewhere = source != goal.path or heading or block
            if is_meant and elsewhere and _names_part(texts, written.link, goal, heading, block):
                references.append((source, written.first, written.last))
    return references


def list_sources(texts: Texts, goal: LinkTarget, *, itself: bool = False) -> list[str]:
    """Return the notes that may link to a goal: those indexed as such, and the unsaved ones.

    With `itself`, the goal's note is among them.
    """

    def read(view: IndexView) -> list[str]:
        if goal.path:
            row = open_index.note_at(view.manifest, goal.path)
            rows = link_rows.read_incoming(view.manifest, row.number) if row else []
        else:
            rows = link_rows.find_to_ghost(view.manifest, goal.ghost)
        return [row.source_key for row in rows]

    indexed = dict.fromkeys(texts.bank.read(read))
    own = [goal.path] if itself and goal.path else []
    return list(dict.fromkeys([*own, *indexed, *texts.unsaved]))


def _same_ghost(first: LinkTarget, second: LinkTarget) -> bool:
    return (
        not first.path and bool(first.ghost) and first.ghost.casefold() == second.ghost.casefold()
    )


def _names_part(texts: Texts, link: Link, goal: LinkTarget, heading: str, block: str) -> bool:
    if block:
        return link.block.casefold() == block.casefold()
    if not heading:
        return True
    note = texts.note(goal.path)
    section = section_at(note, heading) if note else None
    return bool(note and link.heading and section_at(note, link.heading) == section)


def _find_target(
    texts: Texts, path: str, link: Link, target: TargetNames, paths: Sequence[str]
) -> LinkTarget:
    if len(paths) > 1:
        near = tuple(link_rows.nearest_first(path, paths))
        problem = f"several notes answer to {link.target!r}: {link_rows.cut_list(near)}"
        return LinkTarget(problem=problem, candidates=near, ghost=target.ghost)
    if not paths:
        file, line = project_file(texts.bank, target.ghost)
        if not file:
            folder = posixpath.dirname(texts.bank.roots.place(path))
            file, line = project_file(texts.bank, posixpath.join(folder, link.target))
        if file and link.heading:
            line = next(
                (symbol.line for symbol in read_symbols(file) if symbol.qualified == link.heading),
                line,
            )
        return LinkTarget(file=file, line=line, ghost=target.ghost)
    (goal,) = paths
    file = str(texts.bank.roots.file(goal))
    line, problem = 1, ""
    if (link.heading or link.block) and (note := texts.note(goal)):
        line, problem = _find_part(note, link)
    return LinkTarget(goal, file, line, problem)


def _find_part(note: Note, link: Link) -> tuple[int, str]:
    """Return the line of the heading or block that a link names, or the problem."""
    if link.block:
        line = block_line(note, link.block)
        return (
            line or 1,
            "" if line else f"{note.path} has no block ^{link.block}",
        )
    section = section_at(note, link.heading)
    if section:
        return section.line, ""
    return 1, f"{note.path} has no heading {link.heading!r}"


def project_file(bank: Bank, name: str) -> tuple[str, int]:
    """Return the file of the project that a ghost names, and its line; empty if there is none."""
    project = bank.layout.project
    for written, line in _split_line(name):
        parts = written.split("/")
        if not written or "\0" in written or ".." in parts or Path(written).is_absolute():
            continue
        file = project / written
        try:
            inside = file.resolve().is_relative_to(project.resolve())
            if inside and file.is_file():
                return str(file), line
        except (OSError, RuntimeError):  # too long a name, or a loop of symbolic links
            continue
    return "", 1


def read_symbols(file: str) -> tuple[Symbol, ...]:
    """Return the symbols of a source file; none for one that can't be read as such."""
    try:
        with Path(file).open("rb") as opened:
            data = opened.read(MAX_CHARACTERS)
    except OSError:
        return ()
    parsed_file = parse_text(file, data.decode("utf-8", errors="replace"))
    return parsed_file.symbols if parsed_file else ()


def _split_line(name: str) -> list[tuple[str, int]]:
    match = _PLACE.fullmatch(name)
    return [(name, 1), (match[1], max(1, int(match[2])))] if match else [(name, 1)]


def _slug(heading: str) -> str:
    return link_rows.heading_slug(heading.casefold()).replace("\ufe0f", "")


def _fold_text(text: str) -> str:
    return " ".join(text.casefold().split())


def part_at(note: Note, offset: int) -> tuple[str, str] | None:
    """Return the heading or the block id that an offset outside links is on; None in other text.

    Both are empty on the front matter, the first line, and a title that is the first heading: these
    are the whole note.
    """
    line = 1 + parsing.count_lines(note.text[:offset])
    for name, at in note.body.blocks.items():
        if at == line:
            return "", name
    for section in note.body.sections:
        if section.level and section.line == line:
            is_title = section.level == 1 and section.headings[-1] == note.body.title
            return "" if is_title else "#".join(section.headings), ""
    return ("", "") if offset < note.body_start or line == 1 else None


_FILES_SECONDS = 30.0
"""Seconds that the list of the project's files is used."""

_files: dict[str, tuple[float, list[str]]] = {}
"""The files of projects that were listed last, with the time."""


def project_files(bank: Bank) -> Sequence[str]:
    """Return the files of the bank's project, as git lists them; none without a repository."""
    project = bank.layout.project
    if not bank.layout.prefix:
        return ()
    cached = _files.get(str(project))
    if cached is None or time.monotonic() - cached[0] > _FILES_SECONDS:
        tree = repository.find_worktree(project)
        not_ignored = repository.list_not_ignored(tree, project, ["."]) if tree else None
        files = sorted(
            path for path in not_ignored or () if not path.startswith(bank.layout.prefix)
        )
        cached = _files[str(project)] = (time.monotonic(), files)
    return cached[1]
