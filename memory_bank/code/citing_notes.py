"""The notes that cite a file of the code and its symbols.

A note belongs to a symbol that it names in `symbol_refs`, or to which it links by `symbol:NAME` or
`file#symbol`; with any other link to the file, it belongs to the file.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from types import MappingProxyType

from memory_bank.bank import open_index
from memory_bank.bank.backlinks import LinkShown
from memory_bank.bank.bank import Bank
from memory_bank.bank.open_index import NoteRow, note_of
from memory_bank.bank.records import NO_META, Finding, ShownNote
from memory_bank.base import NamedTuple, lazy_pattern
from memory_bank.base.documents import Link
from memory_bank.base.errors import did_you_mean, differ_by_one_letter
from memory_bank.base.filenames import APPLIES_TO, matches_file, yield_patterns
from memory_bank.code import lookup
from memory_bank.code.index.codebase import Codebase
from memory_bank.code.index.database import CodeDatabase
from memory_bank.code.lookup import SCHEME, linked_symbol
from memory_bank.notes import names
from memory_bank.notes.sections import sentence_around, sentence_below
from memory_bank.search.index import IndexView
from memory_bank.search.manifest import document_rows, link_rows
from memory_bank.search.manifest.link_rows import find_to_code

_LINES = lazy_pattern(r"L\d+(?:-L?\d+)?")
"""The lines of a file in a link, as web sites write them."""


class CitingNotes(NamedTuple):
    """The notes that cite a file and its symbols."""

    symbols: Mapping[str, tuple[ShownNote, ...]] = MappingProxyType({})
    """By the symbol's id."""
    file: tuple[ShownNote, ...] = ()
    """Those with links to the file, but to no symbol that it has."""
    applying: tuple[ShownNote, ...] = ()
    """Rules: those whose `applies_to` means the file."""


_Link = tuple[Link, NoteRow, str]
"""A link, its note, and the sentence around it."""


def find_citing_notes(
    code: Codebase, bank: Bank | None, path: str, *, catch_up: bool = True
) -> CitingNotes:
    """Return the notes that cite a file of the work tree and its symbols.

    Without a bank there are none. Without `catch_up`, the index of notes is asked as it is.
    Archived notes are left out. The newest come first. The lock of the code may not be
    held: another thread may hold that of the bank and wait for it.
    """
    if bank is None:
        return CitingNotes()
    with code.lock:
        symbols = lookup.list_symbols(code.table, path)
    names = {row.symbol.name for row in symbols} | {row.id for row in symbols}
    read = bank.answer if catch_up else bank.read
    links = read(lambda view: _list_links(view, bank, code, path, names))
    links_by_symbol: dict[str, list[_Link]] = {}
    file_links: list[_Link] = []
    with code.lock:
        for link in links:
            ids = _list_meant_symbols(code.table, link[0], path)
            for symbol in ids:
                links_by_symbol.setdefault(symbol, []).append(link)
            if not ids and not link[0].ghost.lower().startswith(SCHEME):
                file_links.append(link)
    return CitingNotes(
        {symbol: _group_by_note(symbol_links) for symbol, symbol_links in links_by_symbol.items()},
        _group_by_note(file_links),
        read(lambda view: _list_applying(view, path)),
    )


def _list_applying(view: IndexView, path: str) -> tuple[ShownNote, ...]:
    """Return the notes that name a file by the patterns of their `applies_to`."""
    if not document_rows.count_values(view.manifest, APPLIES_TO):
        return ()
    keys = [
        key
        for key, extra in document_rows.yield_data(view.manifest, "extra")
        if any(matches_file(pattern, path) for pattern in yield_patterns(extra.get(APPLIES_TO)))
    ]
    numbers = document_rows.find_numbers(view.manifest, keys)
    first = document_rows.first_passages(view.manifest, numbers)
    rows = document_rows.read_documents(view.manifest, numbers)
    notes = []
    for number, row in rows.items():
        note = note_of(row)
        text = view.source.text(note.path, note.etag, first[number].span) if number in first else ""
        sentence = sentence_below((text or "").removeprefix(f"# {note.title}").strip())
        notes.append(_show_note(note, sentence))
    return tuple(sorted(notes, key=lambda note: note.path))


def yield_unknown_symbols(view: IndexView, table: CodeDatabase) -> Iterator[Finding]:
    """Yield the references of notes to symbols that the code doesn't have, or has several of."""
    rows = [
        (row, linked_symbol(row)) for row in link_rows.find_to_code(view.manifest, SCHEME, SCHEME)
    ]
    rows += [
        (row, f"{row.ghost}#{row.heading}")
        for row in link_rows.find_to_ghosts(view.manifest)
        if row.heading
        and not _LINES.fullmatch(row.heading)
        and lookup.list_symbols(table, row.ghost)
    ]
    notes = document_rows.read_documents(view.manifest, {row.source for row, _ in rows})
    counts: dict[str, int] = {}
    for row, name in rows:
        if row.source not in notes or notes[row.source].hidden:
            continue
        if name not in counts:
            symbols = lookup.find_meant_symbols(table, name)
            counts[name] = -1 if symbols else len(lookup.find_symbols(table, name))
        if counts[name] == 0:
            problem = f"which the code doesn't have{did_you_mean(_find_misspelled(table, name))}"
        elif counts[name] > 0:
            problem = f"which may be {counts[name]} symbols: name the class or the file, too"
        else:
            continue
        message = f"names the symbol {name}, {problem}"
        yield Finding("unknown-symbol", "info", row.source_key, row.line, message)


def _find_misspelled(table: CodeDatabase, name: str) -> list[str]:
    """Return the symbols that an unknown name may mean, misspelled by one letter.

    The name may as well be that of deleted code: what is only similar has nothing to do with it.
    """
    last = lookup.last_name(name)
    similar = lookup.list_similar_symbols(table, name)
    return [
        candidate
        for candidate in similar
        if differ_by_one_letter(last, lookup.last_name(candidate))
    ]


def _list_links(
    view: IndexView, bank: Bank, code: Codebase, path: str, names: Collection[str]
) -> list[_Link]:
    """Return the links of notes to a file, and those to symbols that have one of some names."""
    rows = find_to_code(view.manifest, _find_ghost_name(bank, code, path), SCHEME)
    rows = [
        row
        for row in rows
        if not (name := linked_symbol(row)) or {name, lookup.last_name(name)} & set(names)
    ]
    rows += _list_links_to_note(view, bank, code, path)
    numbers = {row.source for row in rows}
    documents = document_rows.read_documents(view.manifest, numbers)
    notes_by_number = {number: note_of(row) for number, row in documents.items() if not row.hidden}
    first = document_rows.first_passages(view.manifest, numbers)
    links = []
    for row in rows:
        note = notes_by_number.get(row.source)
        if note is None:
            continue
        sentence = sentence_around(row.before, row.text or row.target, row.after)
        if not sentence and row.source in first:
            sentence = sentence_below(
                view.source.text(note.path, note.etag, first[row.source].span) or ""
            )
        links.append((row, note, sentence))
    return links


def _list_links_to_note(view: IndexView, bank: Bank, code: Codebase, path: str) -> list[Link]:
    """Return the links to a file of the work tree that is a note itself."""
    file = str(code.root / path)
    for key in (names.link_name(file, bank.layout), names.name_included(file, bank.layout)):
        note = open_index.note_at(view.manifest, key) if key else None
        if note is not None:
            return link_rows.read_incoming(view.manifest, note.number)
    return []


def _find_ghost_name(bank: Bank, code: Codebase, path: str) -> str:
    """Return the name by which links of a bank's notes lead to a file of the work tree."""
    if not bank.layout.prefix:  # its notes name files from the root of the work tree
        return path
    below = os.path.relpath(code.root / path, bank.layout.project)
    return below.replace(os.sep, "/")


def _list_meant_symbols(table: CodeDatabase, link: Link, path: str) -> list[str]:
    """Return the ids of the file's symbols that a link means."""
    name = linked_symbol(link) or (f"{path}#{link.heading}" if link.heading else "")
    rows = lookup.find_meant_symbols(table, name)
    return list(dict.fromkeys(row.id for row in rows if row.path == path))


def _group_by_note(links: Iterable[_Link]) -> tuple[ShownNote, ...]:
    """Return the notes of links, the newest first, each with its links."""
    links_by_note: dict[str, list[_Link]] = {}
    for link in links:
        links_by_note.setdefault(link[1].path, []).append(link)
    notes = []
    for group in links_by_note.values():
        _, note, sentence = group[0]
        shown_links = tuple(dict.fromkeys(LinkShown(link) for link, _, _ in group))
        notes.append((-note.created, note.path, _show_note(note, sentence, shown_links)))
    return tuple(note for _, _, note in sorted(notes))


def _show_note(note: NoteRow, sentence: str, links: tuple[LinkShown, ...] = ()) -> ShownNote:
    """Return a note with its links to the code."""
    return ShownNote(
        note_id=note.note_id,
        path=note.path,
        title=note.title,
        meta=NO_META._replace(type=note.type),
        created_at=note.created_at,
        sentence=sentence,
        links=links,
    )
