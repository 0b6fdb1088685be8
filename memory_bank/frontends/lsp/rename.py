"""The changes that rename a note or a heading, with the links to it; nothing is written here."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator, Mapping
from urllib.parse import quote

from memory_bank.bank.bank import Bank, note_path
from memory_bank.base import NamedTuple, lazy_pattern
from memory_bank.base.documents import Section
from memory_bank.base.errors import BadInput, UnreadableNote
from memory_bank.frontends.lsp.open_texts import (
    LinkTarget,
    Texts,
    link_at,
    list_goals,
    list_sources,
    note_file,
    section_at,
)
from memory_bank.memory.move_and_merge import choose_new_path
from memory_bank.memory.relinking import find_lost_links, link_place, make_retarget
from memory_bank.notes import names
from memory_bank.notes.links import NOT_IN_WIKILINK, WholeLink, plan_edits
from memory_bank.notes.note import RELATIVE_KINDS, Note
from memory_bank.search.manifest import document_rows, link_rows

_ATX = lazy_pattern(r"( {0,3}#{1,6}[ \t]++)((?:[^ \t]++|[ \t]++(?!#*[ \t]*\Z))*+)[ \t]*#*[ \t]*")

_FRAGMENT = lazy_pattern(r"[ \t]*\\?#([^\s)>]*)")

_ANGLE_FRAGMENT = lazy_pattern(r"\\?#([^>\n]*)")

_WIKI_FRAGMENT = lazy_pattern(r"[ \t]*#([^\]|^\n\\]*)")


class OffsetEdit(NamedTuple):
    """A change of a note's text between two offsets."""

    path: str
    start: int
    end: int
    text: str


class Renameable(NamedTuple):
    """What a rename at a place changes: a note, or a heading of one."""

    path: str
    """The note's path."""
    name: str
    """The present name: of the note without `.md`, or the heading's text."""
    start: int
    end: int
    """Offsets of the name in the text of the editor."""
    section: Section | None = None
    """The heading's section; None for the note."""


class Renaming(NamedTuple):
    """The changes of a rename; the file moves after the edits."""

    edits: tuple[OffsetEdit, ...]
    old_file: str = ""
    new_file: str = ""


def find_renameable(texts: Texts, path: str, offset: int) -> Renameable | None:
    """Return what a rename at an offset of a note changes; None if there is nothing."""
    note = texts.note(path)
    if note is None:
        return None
    written = link_at(note, offset)
    if written:
        return _find_through_link(texts, path, note, written, offset)
    for section in note.body.sections:
        if section.level and section.start <= offset:
            start, end = heading_span(section)
            if start <= offset <= end:
                return Renameable(path, note.text[start:end], start, end, section)
    if offset < note.body_start:
        return Renameable(path, names.name_of(path), offset, offset)
    return None


def _find_through_link(
    texts: Texts, path: str, note: Note, written: WholeLink, offset: int
) -> Renameable | None:
    goal = next(goal for link, goal in list_goals(texts, path, note) if link == written)
    if not goal.path:
        return None
    goal_note = texts.note(goal.path)
    span = _find_fragment(note, written)
    if goal_note and span and span[0] <= offset <= span[1]:
        section = section_at(goal_note, written.link.heading)
        if section:
            start, end = heading_span(section)
            return Renameable(goal.path, goal_note.text[start:end], *span, section)
    if not written.start <= offset <= written.end or not written.link.target:
        return None
    return Renameable(goal.path, names.name_of(goal.path), written.start, written.end)


def rename(texts: Texts, target: Renameable, new: str) -> Renaming:
    """Return the changes that give a note or heading a new name; the index is updated first.

    Raises Busy, BadInput, BadName, NoteExists, NoteReadOnly.
    """
    texts.bank.catch_up(insist=True)  # a link that is not known would lead nowhere
    if target.section is not None:
        return Renaming(tuple(_rename_heading(texts, target.path, target.section, new.strip())))
    return rename_note(texts, target.path, new)


def rename_note(texts: Texts, old: str, new_name: str) -> Renaming:
    """Return the changes that move a note and rewrite the links to it, as `move_and_merge` does.

    With a name without a folder the note stays in its folder; `./name` moves it out of folders.
    """
    bank = texts.bank
    if "/" not in new_name:
        new_name = posixpath.join(posixpath.dirname(old), new_name)
    new = choose_new_path(bank, old, new_name)
    bank.roots.check_writable(old)
    if new == old:
        return Renaming(())
    bank.roots.check_move(old, new)
    if names.fold_path(new) != names.fold_path(old):
        bank.store.check_free(new)
    return Renaming(
        tuple(move_links(texts, {old: new})), note_file(bank, old), note_file(bank, new)
    )


def move_links(texts: Texts, moves: Mapping[str, str]) -> Iterator[OffsetEdit]:
    """Yield the changes of links to moved notes, and of the notes' own relative links."""
    bank = texts.bank

    linking = {source for path in moves for source in list_sources(texts, LinkTarget(path))}
    lost = [
        row
        for path, new in moves.items()
        if (note := texts.note(path)) is not None
        for row in find_lost_links(bank, moves, new, note.text)
    ]
    for source in sorted({*linking, *moves, *(row.source_key for row in lost)}):
        note = None if bank.roots.is_included(source) else texts.note(source)
        if note is None:
            continue
        goals = {
            link_place(written.link): goal.path for written, goal in list_goals(texts, source, note)
        }
        new_target = make_retarget(bank, source, goals, moves, lost=lost, gone=False)
        edits = plan_edits(note.text, new_target, note.body_start)
        if edits and not note.writable:
            raise UnreadableNote(f"{source}: {note.faults[0].reason}", "save it as UTF-8 first")
        for (start, end), text in edits.items():
            if note.text[start:end] != text:
                yield OffsetEdit(source, start, end, text)


def map_moves(bank: Bank, old_file: str, new_file: str) -> dict[str, str]:
    """Map the paths of the notes that move with a file or folder to their new paths.

    Both are absolute. Included files, and moves out of the bank, are left out. The index is
    updated first; raises Busy.
    """
    bank.catch_up(insist=True)
    old, new = note_path(bank, old_file), note_path(bank, new_file)
    if old or new:
        return {old: new} if old and new and old != new else {}
    keys = bank.read(lambda view: [key for _, key in document_rows.all_keys(view.manifest)])
    moves = {}
    for key in keys:
        file = note_file(bank, key)
        if file.startswith(f"{os.path.realpath(old_file)}{os.sep}") and not bank.roots.is_included(
            key
        ):
            place = os.path.relpath(file, os.path.realpath(old_file))
            moves[key] = note_path(bank, f"{new_file.rstrip(os.sep)}{os.sep}{place}")
    return {old: new for old, new in moves.items() if new and new != old}


def record(bank: Bank, moves: Mapping[str, str]) -> None:
    """Record in this machine's logs that notes have moved, as a move by `rename` does."""
    with bank.lock:
        for old, new in moves.items():
            bank.state.rename(old, new)


def _rename_heading(texts: Texts, path: str, section: Section, new: str) -> Iterator[OffsetEdit]:
    """Yield the changes of a heading and of the links to it."""
    texts.bank.roots.check_writable(path)
    note = texts.read(path)
    old = section.headings[-1]
    if not new or "\n" in new or "\r" in new:
        raise BadInput("a heading needs a text on one line", "give another name")
    link_edits = list(_yield_fragment_edits(texts, path, note, section, new))
    if NOT_IN_WIKILINK.search(new) and any(offset_edit.text == new for offset_edit in link_edits):
        raise BadInput(
            f"{new!r} can't be written in a link to the heading", "choose a name without [ ] | # ^"
        )
    start, end = heading_span(section)
    yield OffsetEdit(path, start, end, new)
    yield from link_edits
    if (
        section.level == 1
        and note.title == old == note.body.title
        and not NOT_IN_WIKILINK.search(new)
    ):
        yield from _rename_by_title(texts, path, old, new)


def _yield_fragment_edits(
    texts: Texts, path: str, note: Note, section: Section, new: str
) -> Iterator[OffsetEdit]:
    """Yield the changes of the part of each link that names a heading."""
    for source in list_sources(texts, LinkTarget(path), itself=True):
        source_note = None if texts.bank.roots.is_included(source) else texts.note(source)
        if source_note is None:
            continue
        for written, goal in list_goals(texts, source, source_note):
            span = _find_fragment(source_note, written) if goal.path == path else None
            goal_section = section_at(note, written.link.heading) if span else None
            if span and goal_section and _is_above(section, goal_section):
                raw = source_note.text[slice(*span)]
                text = _rename_part(raw, written.link.kind, section, goal_section, new)
                if text is not None and text != raw:
                    yield OffsetEdit(source, *span, text)


def _rename_part(
    raw: str, kind: str, section: Section, goal_section: Section, new: str
) -> str | None:
    """Return the part behind the `#` of a link with a heading's new name."""
    old = section.headings[-1]
    if kind in RELATIVE_KINDS:
        if goal_section != section:
            return None
        is_slug = raw == link_rows.heading_slug(old.casefold())
        return link_rows.heading_slug(new.casefold()) if is_slug else quote(new)
    parts = raw.split("#")
    at = len(parts) - 1 - (len(goal_section.headings) - len(section.headings))
    if at < 0 or not parts[at].strip():
        return None
    parts[at] = parts[at].replace(parts[at].strip(), new)
    return "#".join(parts)


def _is_above(section: Section, inner: Section) -> bool:
    """Return whether a section is the inner one, or has it below its heading."""
    if section == inner:
        return True
    depth = len(section.headings)
    return section.start < inner.start and inner.headings[:depth] == section.headings


def _rename_by_title(texts: Texts, path: str, old: str, new: str) -> Iterator[OffsetEdit]:
    """Yield the changes of the links that name a note by its title."""
    by_path = names.lookup_key(names.name_of(path))
    title = names.lookup_key(old)
    if by_path == title or by_path.endswith(f"/{title}"):
        return
    for source in list_sources(texts, LinkTarget(path)):
        note = None if texts.bank.roots.is_included(source) else texts.note(source)
        for written, goal in list_goals(texts, source, note) if note else ():
            is_wiki = written.link.kind in {"wiki", "embed"}
            if is_wiki and goal.path == path and names.lookup_key(written.link.target) == title:
                yield OffsetEdit(source, written.start, written.end, new)


def _find_fragment(note: Note, written: WholeLink) -> tuple[int, int] | None:
    """Return the offsets of the heading in a link, without its `#`."""
    if not written.link.heading:
        return None
    match = _WIKI_FRAGMENT.match
    if written.link.kind in RELATIVE_KINDS:
        angle = note.text.startswith("<", written.start - 1)
        match = _ANGLE_FRAGMENT.match if angle else _FRAGMENT.match
    fragment = match(note.text, written.end)
    if not fragment:
        return None
    text = fragment[1].rstrip()
    return fragment.start(1), fragment.start(1) + len(text)


def heading_span(section: Section) -> tuple[int, int]:
    """Return the offsets of a heading's text, without its marks."""
    line = re.split(r"\r\n|\n|\r", section.text, maxsplit=1)[0]
    match = _ATX.fullmatch(line)
    if match:
        return section.start + match.start(2), section.start + match.end(2)
    text = line.strip()
    start = section.start + line.find(text)
    return start, start + len(text)
