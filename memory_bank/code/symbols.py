"""List the symbols of a work tree and coupled files; show a symbol with what calls it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from memory_bank.bank.bank import Bank
from memory_bank.bank.open_index import NoteRow, note_at
from memory_bank.base import lazy_pattern
from memory_bank.base.dates import seconds_to_iso
from memory_bank.base.documents import Document, Span
from memory_bank.base.errors import BadInput, SymbolNotFound, did_you_mean, similar_names
from memory_bank.base.operation import LONGEST_NAME, Param, Tool, operation, topic
from memory_bank.code import lookup, views
from memory_bank.code.commits import message_reason
from memory_bank.code.index.codebase import Codebase
from memory_bank.code.index.database import SymbolRow
from memory_bank.code.index.work_tree import is_markdown
from memory_bank.code.lookup import path_from_shell
from memory_bank.code.parse.parsed_file import TEST, Symbol
from memory_bank.code.records import CouplingAnswer, SymbolDetails, SymbolList
from memory_bank.notes.sections import sentence_below
from memory_bank.search.document_changes import Progress
from memory_bank.search.index import IndexView
from memory_bank.search.manifest import document_rows

TEST_KIND, FILE, DOCUMENT, NOTE, COMMIT = "test", "file", "document", "note", "commit"
"""The kinds of rows that are no symbols."""

OF_FILES = frozenset({FILE, DOCUMENT})

_LINE = lazy_pattern(r":\d{1,9}\Z")

_NO_SYMBOL = 0
"""The number of a row that is none of the table."""


def find_row(code: Codebase, bank: Bank | None, name: str) -> SymbolRow:
    """Return the symbol of a name; else the test, note, file, document or commit of an id.

    The table has been refreshed; its lock may not be held. Raises SymbolNotFound.
    """
    try:
        with code.lock:
            is_ambiguous = len(lookup.find_symbols(code.table, name)) > 1
            return lookup.find_symbol(code.table, name)
    except SymbolNotFound:
        row = _find_test(code, name)
        if not is_ambiguous:
            row = (
                row
                or (_find_note(code, bank, name) if bank else None)
                or _find_document(code, name)
                or _find_commit(code, name)
            )
        if row is None:
            raise
        return row


def is_symbol(row: SymbolRow) -> bool:
    """Return whether a row is one of the table."""
    return row.number != _NO_SYMBOL


def _make_row(key: str, path: str, symbol: Symbol) -> SymbolRow:
    return SymbolRow(_NO_SYMBOL, key, path, "", symbol.kind == TEST_KIND, symbol)


def _find_test(code: Codebase, name: str) -> SymbolRow | None:
    """Return a test that is a call, such as `it("…")`, or one function of several of a name."""
    with code.lock:
        tests = code.table.tests("t.sym = ?", name) if name.startswith(TEST) else ()
    for test in tests:
        intent = test.intent
        symbol = Symbol(
            intent.title, TEST_KIND, intent.snippet, "", intent.line, intent.end_line, "", "",
            tuple(intent.calls),
        )  # fmt: skip
        return _make_row(test.id, test.path, symbol)._replace(language=test.language)
    return None


def _find_note(code: Codebase, bank: Bank, name: str) -> SymbolRow | None:
    """Return a note by its id, or by its path in the bank."""

    def find_note(view: IndexView) -> tuple[NoteRow, str] | None:
        numbers = document_rows.known_as(view.manifest, [name])
        rows = document_rows.read_documents(view.manifest, numbers)
        path = rows[min(rows)].key if rows else name
        note = note_at(view.manifest, path)
        if note is None:
            return None
        first = document_rows.first_passages(view.manifest, [note.number]).get(note.number)
        return note, (view.source.text(path, note.etag, first.span) or "") if first else ""

    note_text = bank.answer(find_note)
    if note_text is None:
        return None
    note, text = note_text
    file = bank.roots.file(note.path)
    is_inside = file.is_relative_to(code.root)
    path = file.relative_to(code.root).as_posix() if is_inside else os.fspath(file)
    sentence = sentence_below(text.removeprefix(f"# {note.title}").strip())
    symbol = Symbol(note.title, NOTE, note.title, sentence, 1, 2, "")
    return _make_row(note.note_id or note.path, path, symbol)


def _find_document(code: Codebase, name: str) -> SymbolRow | None:
    """Return a file of the work tree by its path, or a section of it by `path#heading`."""
    document = code.document(name)
    if document is not None:
        return _describe_document(code, document)
    path, hash_sign, heading = name.partition("#")
    while hash_sign:  # a path may have the sign, too
        document = code.document(path)
        if document is not None and (row := _find_section(code, document, heading)):
            return row
        next_part, hash_sign, heading = heading.partition("#")
        path = f"{path}#{next_part}"
    path = existing_file(code, name) or existing_file(code, _LINE.sub("", name))
    document = code.document(path) if path else None
    if document is not None:
        return _describe_document(code, document)
    return _make_row(path, path, Symbol(path, FILE, path, "", 1, 2, "")) if path else None


def _describe_document(code: Codebase, document: Document) -> SymbolRow:
    state = code.table.files().get(document.key)
    text = code.lines(document.key, document.hash, Span(1, 1 << 40))
    title = document.title or document.key
    has_sentences = state is None and is_markdown(document.key)
    doc = sentence_below(text.removeprefix(f"# {title}").strip()) if has_sentences else ""
    kind, end_line = FILE if state else DOCUMENT, len(text.splitlines()) + 1
    row = _make_row(
        document.key, document.key, Symbol(document.key, kind, title, doc, 1, end_line, "")
    )
    return row._replace(language=state.language if state else "")


def _find_section(code: Codebase, document: Document, heading: str) -> SymbolRow | None:
    for section in document.sections:
        if " > ".join(section.headings) == heading:
            text = code.lines(document.key, document.hash, Span(section.line, section.end_line))
            title = section.headings[-1] if section.headings else document.key
            lines = section.line, section.end_line
            symbol = Symbol(heading, DOCUMENT, title, sentence_below(text), *lines, "")
            return _make_row(f"{document.key}#{heading}", document.key, symbol)
    return None


def _find_commit(code: Codebase, name: str) -> SymbolRow | None:
    commit = code.commit(name.strip().removeprefix("commit "))
    if commit is None:
        return None
    written = f"{commit.author}, {seconds_to_iso(commit.written)[:10]}"
    symbol = Symbol(commit.subject, COMMIT, written, message_reason(commit), 1, 2, "")
    return _make_row(commit.id, "", symbol)


MOST = 1000
"""Maximum number of symbols in a list."""


@operation(
    "code symbols",
    why="""
    Lists functions, classes, methods and other symbols of the code in this git work tree,
    uncommitted changes included. With words, those whose names have them all, the closest names
    first; if there are none, those that are found by words and meaning in their code and comments.
    """,
    examples=(
        ("memory-bank code symbols", "all symbols"),
        ("memory-bank code symbols open bank", "whose names have both words"),
        ("memory-bank code symbols --file src/index.py", "of one file or folder"),
        ("memory-bank code symbols --json | jq -r '.symbols[].name'", "for a program"),
    ),
    view=views.view_symbols,
)
def list_symbols(
    code: Codebase,
    query: Annotated[str, Param(argument=True, metavar="[WORD]...", words=True)] = "",
    limit: Annotated[int, Param("Most symbols to list; default: 50", metavar="N")] = 50,
    *,
    file: Annotated[str, Param("Only symbols of this file or folder", metavar="PATH")] = "",
    tests: Annotated[bool, Param("Include tests")] = False,
    progress: Progress | None = None,
) -> SymbolList:
    """List functions, classes and other symbols of the code.

    Return the symbols whose names have all words of a query, the closest names first.

    If no name has them, the query is searched in names, doc comments and code, by words and
    meaning. `file` is a file or a folder of the work tree. Tests are left out unless `tests`.
    `limit` is clamped to 1 to 1,000. Raises BadInput for an unknown file.
    """
    limit = min(max(limit, 1), MOST)
    with code.lock:
        problem = code.refresh(progress)
        under = find_path(code, file) if file else ""
        words = [word for word in re.split(r"[\s.:#]+", query) if word]
        rows = lookup.match_symbols(code.table, words, limit=limit + 1, path=under, tests=tests)
        by = "name"
        if words and not rows:
            by = "search"
            problem = code.catch_up(["files"], progress).problem
            kinds = () if tests else ("symbols",)
            result = code.search("files", query, limit + 1, under=under, kinds=kinds, parts=True)
            rows = [hit.symbol for hit in result.hits if hit.symbol and not hit.weak]
    symbols = tuple(rows[:limit])
    return SymbolList(query, len(symbols), symbols, len(rows) > limit, by, problem or None)


@operation(
    "",
    view=views.view_symbol,
    tool=Tool(
        "Look up a symbol: what it calls and what calls it. When you edit it, `explain_symbol`.",
        "code",
        reads=True,
    ),
)
def symbol(
    code: Codebase, name: Annotated[str, Param(longest=LONGEST_NAME)], *, count_access: bool = True
) -> SymbolDetails:
    """Return a symbol by its name: its definition, its calls and its callers.

    `repo.symbol_lookup` says what may be a name. Unless `count_access` is false, its access count
    is then increased by one. Raises SymbolNotFound.
    """
    with code.lock:
        problem = code.refresh()
        row = lookup.find_symbol(code.table, name)
        symbol_details = describe_symbol(code, row)
        uncounted = code.count_access([row.id]) if count_access else ""
        return symbol_details._replace(problem=problem or uncounted or None)


def describe_symbol(code: Codebase, row: SymbolRow, *, may_call: bool = False) -> SymbolDetails:
    """Return a symbol of the table with its calls, and what calls it, or with `may_call` may."""
    graph = code.relations().calls
    access = code.accesses([row.id]).get(row.id)
    callers, unclear = graph.callers(row) if is_symbol(row) else ([], [])
    return SymbolDetails(
        symbol=row,
        doc=row.symbol.doc,
        fingerprint=row.symbol.fingerprint,
        calls=tuple(graph.callees(row)),
        called_by=tuple(callers),
        unclear_callers=len(unclear),
        may_call=tuple(unclear) if may_call else (),
        access_count=access.times if access else 0,
        last_accessed_at=seconds_to_iso(access.last) if access and access.times else "",
    )


def find_path(code: Codebase, written: str) -> str:
    """Return the path below the work tree of a file or folder of code.

    It may be given from the root of the work tree or from the working directory, absolute, with
    `./` or backslashes, or by the end of its path. Raises BadInput if no code is there, saying why.
    """
    files = code.table.files()
    for path in _yield_forms(code.root, written):
        if path in files and not files[path].reason:
            return path
        if reason := code.table.refused().get(path):
            raise BadInput(f"{path} is not indexed: {reason}", "see the settings `[code]`")
        folder = f"{path}/" if path else ""
        if any(file.startswith(folder) for file in files):
            return path
    paths = lookup.find_files(code.table, written)
    if len(paths) == 1:
        return paths[0]
    if paths:
        message = f"{written!r} is the end of several paths"
        raise BadInput(message, "name one of: {paths}", paths=", ".join(paths[:10]))
    near = did_you_mean(similar_names(written, files))
    raise BadInput(f"there is no file of code {written!r}{near}", "name it by its path")


def existing_file(code: Codebase, text: str) -> str:
    r"""Return the path below the work tree of a file that exists; empty if there is none.

    `text` is a path below the work tree, or an absolute one in it; it may have `./` and `\`.
    """
    try:
        path = lookup.path_below(code.root, text)
        path.encode()  # files whose names are not UTF-8 are not indexed
    except (BadInput, UnicodeEncodeError):
        return ""
    if path in code.table.files():
        return path
    try:
        return path if os.path.isfile(code.root / path) else ""  # noqa: PTH113  (no ValueError)
    except ValueError:
        return ""


def existing_path(code: Codebase, file: str) -> str:
    """Return the path of a file, as `existing_file`.

    Raises BadInput for a path out of the work tree, FileNotFound with similar names, or with its
    new one, for an unknown file.
    """
    if path := existing_file(code, file):
        return path
    state, _ = code.coupling()
    return lookup.known_file(code.root, state.files, state.history.renamed, file)


def _yield_forms(root: Path, text: str) -> Iterator[str]:
    """Yield the paths below the work tree that a path may mean, the likeliest first."""
    path = text.replace("\\", "/")
    absolute = os.path.normpath(os.path.join(os.getcwd(), os.path.expanduser(path)))  # noqa: PTH111, PTH118, PTH109
    places = [os.path.normpath(root / path), absolute, os.path.realpath(absolute)]
    for place in dict.fromkeys(places):
        below = os.path.relpath(place, root).replace(os.sep, "/")
        if below != ".." and not below.startswith("../"):
            yield "" if below == "." else below


MOST_COUPLED = 100
"""Most files of one answer."""


@operation(
    "code coupling",
    why="""
    Lists the files that change together with a file: by the commits of the git history, by
    imports in either direction, and by likeness of their texts. The confidence is the share of the
    file's commits that changed the other one too; merges and commits of many files don't count.

    The risk is Critical from 75 % and 5 joint commits, High from 50 % and 3, Medium from 25 % and
    2, else Low. No bank is needed.
    """,
    examples=(
        ("memory-bank code coupling src/jobs.py", "what to look at when this file changes"),
        ("memory-bank code coupling src/jobs.py --limit 3", "only the strongest"),
        ("memory-bank code coupling src/jobs.py --json | jq -r '.files[].file'", "for a program"),
    ),
    view=views.view_coupling,
)
def coupling(
    codebase: Codebase,
    file: Annotated[str, Param(argument=True, metavar="FILE", path="any", read=path_from_shell)],
    limit: Annotated[int, Param("Most files; default: 10", metavar="N")] = 10,
) -> CouplingAnswer:
    r"""List the files that change with a file.

    Return the files that are coupled with a file.

    `file` is a path below the work tree, or an absolute one in it; it may have `./` and `\`.
    Raises BadInput for a path outside, FileNotFound with similar names for an unknown one.
    """
    with codebase.lock:
        coupling, notices = codebase.coupling()
        path = lookup.known_file(codebase.root, coupling.files, coupling.history.renamed, file)
        rows = coupling.of(path)[: min(max(limit, 1), MOST_COUPLED)]
        commits = len(coupling.history.of(path))
    return CouplingAnswer(path, commits, tuple(rows), notices)


topic(
    "code",
    "Look up symbols, calls, tests and coupled files.",
    group="Code",
    why="""
    Knows the code of this git work tree, uncommitted changes included, in twelve languages. No bank
    is needed. To search notes, documents and code with one question, use ask; for the reasons
    behind a file or a line, use why.
    """,
    examples=(
        ("memory-bank code explain-symbol Bank.open", "what to know before it is changed"),
        ("memory-bank code blast-radius src/jobs.py", "what a change of a file may affect"),
    ),
)
