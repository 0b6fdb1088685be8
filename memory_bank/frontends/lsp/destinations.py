"""Where the links of a note lead."""

from __future__ import annotations

import posixpath
import time
from collections.abc import Sequence
from pathlib import Path

from memory_bank.bank import open_index
from memory_bank.bank.backlinks import resolve_links
from memory_bank.bank.bank import Bank
from memory_bank.base import NamedTuple, lazy_pattern
from memory_bank.base.documents import Link, Section
from memory_bank.code.parse.parsed_file import Symbol
from memory_bank.frontends.lsp.open_texts import MAX_CHARACTERS, Texts, parse_text, read_links
from memory_bank.git import repository
from memory_bank.notes import parsing
from memory_bank.notes.characters import written_words
from memory_bank.notes.link_targets import TargetNames
from memory_bank.notes.links import WholeLink
from memory_bank.notes.note import Note
from memory_bank.search.index import View
from memory_bank.search.manifest import link_rows

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

    def read(view: View) -> list[str]:
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
