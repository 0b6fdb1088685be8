"""Find what `explain-symbol` is asked for by any id that an answer has, not only a symbol's."""

from __future__ import annotations

import os

from memory_bank.bank.bank import Bank
from memory_bank.bank.open_index import NoteRow, note_at
from memory_bank.base import lazy_pattern
from memory_bank.base.dates import seconds_to_iso
from memory_bank.base.documents import Document, Span
from memory_bank.base.errors import SymbolNotFound
from memory_bank.code import lookup
from memory_bank.code.code_names import existing_file
from memory_bank.code.commits import message_reason
from memory_bank.code.index.codebase import Codebase
from memory_bank.code.index.database import SymbolRow
from memory_bank.code.index.work_tree import is_markdown
from memory_bank.code.parse.parsed_file import TEST, Symbol
from memory_bank.notes.sections import sentence_below
from memory_bank.search.index import View
from memory_bank.search.manifest import document_rows

TEST_KIND, FILE, DOCUMENT, NOTE, COMMIT = "test", "file", "document", "note", "commit"
"""The kinds of rows that are no symbols."""

OF_FILES = frozenset({FILE, DOCUMENT})

_LINE = lazy_pattern(r":\d{1,9}\Z")

_NO_SYMBOL = 0
"""The number of a row that is none of the table."""


def row_meant(code: Codebase, bank: Bank | None, name: str) -> SymbolRow:
    """Return the symbol of a name; else the test, note, file, document or commit of an id.

    The table has been refreshed; its lock may not be held. Raises SymbolNotFound.
    """
    try:
        with code.lock:
            several = len(lookup.find_symbols(code.table, name)) > 1
            return lookup.find_symbol(code.table, name)
    except SymbolNotFound:
        row = _test_row(code, name)
        if not several:
            row = (
                row
                or (_note_row(code, bank, name) if bank else None)
                or _file_row(code, name)
                or _commit_row(code, name)
            )
        if row is None:
            raise
        return row


def is_symbol(row: SymbolRow) -> bool:
    """Return whether a row is one of the table."""
    return row.number != _NO_SYMBOL


def _row(key: str, path: str, symbol: Symbol) -> SymbolRow:
    return SymbolRow(_NO_SYMBOL, key, path, "", symbol.kind == TEST_KIND, symbol)


def _test_row(code: Codebase, name: str) -> SymbolRow | None:
    """Return a test that is a call, such as `it("…")`, or one function of several of a name."""
    with code.lock:
        tests = code.table.tests("t.sym = ?", name) if name.startswith(TEST) else ()
    for test in tests:
        intent = test.intent
        symbol = Symbol(
            intent.title, TEST_KIND, intent.snippet, "", intent.line, intent.end_line, "", "",
            tuple(intent.calls),
        )  # fmt: skip
        return _row(test.id, test.path, symbol)._replace(language=test.language)
    return None


def _note_row(code: Codebase, bank: Bank, name: str) -> SymbolRow | None:
    """Return a note by its id, or by its path in the bank."""

    def find_note(view: View) -> tuple[NoteRow, str] | None:
        numbers = document_rows.known_as(view.manifest, [name])
        rows = document_rows.read_documents(view.manifest, numbers)
        path = rows[min(rows)].key if rows else name
        note = note_at(view.manifest, path)
        if note is None:
            return None
        first = document_rows.first_passages(view.manifest, [note.number]).get(note.number)
        return note, (view.source.text(path, note.etag, first.span) or "") if first else ""

    match = bank.answer(find_note)
    if match is None:
        return None
    note, text = match
    file = bank.roots.file(note.path)
    inside = file.is_relative_to(code.root)
    path = file.relative_to(code.root).as_posix() if inside else os.fspath(file)
    sentence = sentence_below(text.removeprefix(f"# {note.title}").strip())
    symbol = Symbol(note.title, NOTE, note.title, sentence, 1, 2, "")
    return _row(note.note_id or note.path, path, symbol)


def _file_row(code: Codebase, name: str) -> SymbolRow | None:
    """Return a file of the work tree by its path, or a section of it by `path#heading`."""
    document = code.document(name)
    if document is not None:
        return _whole_file_row(code, document)
    path, sign, heading = name.partition("#")
    while sign:  # a path may have the sign, too
        document = code.document(path)
        if document is not None and (row := _section(code, document, heading)):
            return row
        more, sign, heading = heading.partition("#")
        path = f"{path}#{more}"
    path = existing_file(code, name) or existing_file(code, _LINE.sub("", name))
    document = code.document(path) if path else None
    if document is not None:
        return _whole_file_row(code, document)
    return _row(path, path, Symbol(path, FILE, path, "", 1, 2, "")) if path else None


def _whole_file_row(code: Codebase, document: Document) -> SymbolRow:
    state = code.table.files().get(document.key)
    text = code.lines(document.key, document.hash, Span(1, 1 << 40))
    title = document.title or document.key
    has_sentences = state is None and is_markdown(document.key)
    doc = sentence_below(text.removeprefix(f"# {title}").strip()) if has_sentences else ""
    kind, end_line = FILE if state else DOCUMENT, len(text.splitlines()) + 1
    row = _row(document.key, document.key, Symbol(document.key, kind, title, doc, 1, end_line, ""))
    return row._replace(language=state.language if state else "")


def _section(code: Codebase, document: Document, heading: str) -> SymbolRow | None:
    for section in document.sections:
        if " > ".join(section.headings) == heading:
            text = code.lines(document.key, document.hash, Span(section.line, section.end_line))
            title = section.headings[-1] if section.headings else document.key
            ends = section.line, section.end_line
            symbol = Symbol(heading, DOCUMENT, title, sentence_below(text), *ends, "")
            return _row(f"{document.key}#{heading}", document.key, symbol)
    return None


def _commit_row(code: Codebase, name: str) -> SymbolRow | None:
    commit = code.commit(name.strip().removeprefix("commit "))
    if commit is None:
        return None
    written = f"{commit.author}, {seconds_to_iso(commit.written)[:10]}"
    symbol = Symbol(commit.subject, COMMIT, written, message_reason(commit), 1, 2, "")
    return _row(commit.id, "", symbol)
