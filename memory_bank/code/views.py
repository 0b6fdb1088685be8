"""What answers about code say: symbols, calls, tests, coupled files and citing notes."""

from __future__ import annotations

from collections.abc import Sequence

from memory_bank.bank.records import ShownNote
from memory_bank.base.hit_view import Place
from memory_bank.base.rendering import (
    count,
    describe_alike,
    describe_unclear,
    has_same_words,
    quote_path,
    starts_text,
    warn_of_namesakes,
)
from memory_bank.base.screen import FOUND, NOTHING, Piece, show_place
from memory_bank.base.view import Block, Table, View
from memory_bank.code.calls import ResolvedCall
from memory_bank.code.coupled import CoupledFile
from memory_bank.code.guards import Guard
from memory_bank.code.index.codebase import Codebase
from memory_bank.code.index.database import SymbolRow
from memory_bank.code.records import (
    BlastRadius,
    CouplingAnswer,
    ExplainedSymbol,
    GuardingTests,
    SymbolDetails,
    SymbolList,
    plain_words,
)
from memory_bank.notes.sections import sentence_below

_READ_WHOLE = "`read_memory` shows a note whole."

_DAY = 10
"""Characters of the date in a timestamp."""

_MOST_DOC, _SHORT_DOC = 1500, 240
"""Most characters of a doc comment for agents, alone and with all that has to do with it."""

_FIRST, _FEW = 6, 3
"""Most rows of a kind in the explanation of a symbol, which an agent reads at a glance."""

_MOST_CALLERS = 5
"""Most callers that are named of each symbol of a file."""


def view_symbols(answer: SymbolList, code: Codebase, limit: int) -> View:
    """Describe each symbol in a row."""
    rows = [
        (_write_place(code, symbol.path, symbol.line), symbol.kind, symbol.name, symbol.snippet)
        for symbol in answer.symbols
    ]
    remarks = ["no name has these words: found by words and meaning"]
    if not rows or answer.found_by != "search":
        remarks = []
    if answer.more:
        remarks.append(f"there are more than {max(limit, 1)}: use --limit, or more words")
    return View(
        "" if rows else "No symbols",
        [Table(("place", "kind", "name", "about"), rows, "about")] if rows else (),
        problem=answer.problem,
        remarks=remarks,
        code=FOUND if rows else NOTHING,
    )


def view_symbol(details: SymbolDetails) -> View:
    """Describe a symbol with its doc comment, its calls and its callers."""
    return View(
        "A symbol; calls are resolved by names",
        [view_definition(details.symbol, doc=details.doc[:_MOST_DOC]), *_list_call_tables(details)],
        problem=details.problem,
    )


def view_explained(answer: ExplainedSymbol, code: Codebase | None = None) -> View:
    """Describe a symbol with all that has to do with it."""
    details = answer.details
    symbol = details.symbol
    doc = details.doc[:_SHORT_DOC] if code is None else details.doc
    definition = view_definition(symbol, code, doc)
    if code is not None and details.access_count:
        times, last = count(details.access_count, "time"), details.last_accessed_at[:_DAY]
        access: Sequence[Piece] = [(f"  asked for {times}, last on {last}", "dim")]
        definition = Block([*definition.lines, access])
    commits = Table(
        ("date", "subject"),
        [
            (commit.committed_at[:_DAY], f"{commit.id[:8]} {commit.subject}".strip())
            for commit in answer.commits
        ],
        below=[sentence_below(commit.reason) for commit in answer.commits],
        title="commits with more than a subject, and the newest",
        most=_FEW,
    )
    parts = [
        *_list_call_tables(details, code),
        *tests_table(answer.tests, code),
        *coupled_table("changes with", answer.coupled, code),
        *notes_table("notes", answer.notes, _FIRST),
        *notes_table(f"notes of {symbol.path}", answer.file_notes, _FEW),
        *notes_table(f"rules for {symbol.path}", answer.rules, _FIRST),
        *([commits] if commits.rows else []),
    ]
    return View(
        "A symbol and what has to do with it; calls are resolved by names",
        [definition, *parts],
        notices=answer.notices,
        problem=details.problem,
        then=_READ_WHOLE if answer.notes or answer.file_notes else "",
    )


def view_affected(answer: BlastRadius, code: Codebase | None = None) -> View:
    """Describe what a change of a file may affect."""
    symbols = Table(
        ("place", "kind", "name"),
        [
            (
                _write_place(code, answer.file, affected.symbol.line),
                affected.symbol.kind,
                f"{affected.symbol.name}{warn_of_namesakes(affected.others)}",
            )
            for affected in answer.symbols
        ],
        below=[_write_callers(affected, code) for affected in answer.symbols],
        title=f"symbols of {answer.file}",
    )
    parts = [
        *([symbols] if symbols.rows else []),
        *coupled_table("may change with it", answer.coupled, code),
        *tests_table(answer.tests, code),
        *(
            table
            for affected in answer.symbols
            for table in notes_table(f"notes of {affected.symbol.name}", affected.notes)
        ),
        *notes_table(f"notes of {answer.file}", answer.notes),
    ]
    has_notes = answer.notes or any(affected.notes for affected in answer.symbols)
    head = "What a change of the file may affect; calls are resolved by names"
    return View(
        head if parts else f"Nothing is known to depend on {quote_path(answer.file)}",
        parts,
        notices=answer.notices,
        problem=answer.problem,
        then=_READ_WHOLE if has_notes else "",
        code=FOUND if parts else NOTHING,
    )


def view_tests(answer: GuardingTests, code: Codebase, limit: int) -> View:
    """Describe the tests that guard a symbol or a file."""
    return View(
        "" if answer.tests else f"No test is known to guard {answer.name}",
        tests_table(answer.tests, code),
        problem=answer.problem,
        remarks=[f"there are more than {max(limit, 1)}: use --limit"] if answer.more else (),
        code=FOUND if answer.tests else NOTHING,
    )


def view_coupling(answer: CouplingAnswer) -> View:
    """Describe the files that change with a file."""
    commits = count(answer.commits, "commit")
    rows = [
        (
            quote_path(partner.file),
            f"in {partner.support} of {commits}"
            if partner.support
            else plain_words(partner.snippet),
            partner.last_changed[:_DAY],
            partner.risk,
        )
        for partner in answer.files
    ]
    title: Sequence[Piece] = [(f"{quote_path(answer.file)}, {commits}", "bold")]
    return View(
        "" if rows else f"No file is coupled with {answer.file} ({commits})",
        [Block([title]), Table(("file", "why", "last", "risk"), rows)] if rows else (),
        notices=answer.notices,
        code=FOUND if rows else NOTHING,
    )


def calls_table(title: str, calls: Sequence[ResolvedCall], code: Codebase | None) -> list[Table]:
    """Describe calls to or from a symbol; those that may mean several have no place."""
    rows = [
        (
            _write_place(code, call.path, call.line) if call.path else "-",
            call.name or call.written,
            call.how or describe_alike(call.alike),
        )
        for call in calls
    ]
    return [Table(("place", "name", "found by"), rows, title=title, most=_FIRST)] if rows else []


def tests_table(tests: Sequence[Guard], code: Codebase | None) -> list[Table]:
    """Describe tests that guard something."""
    rows = [
        (_write_place(code, guard.test_file, guard.line), guard.title, guard.how) for guard in tests
    ]
    headings = ("place", "test", "because")
    return [Table(headings, rows, "test", title="tests", most=_FIRST)] if rows else []


def coupled_table(title: str, files: Sequence[CoupledFile], code: Codebase | None) -> list[Table]:
    """Describe files that are coupled with a file, and why."""
    rows = [(_write_place(code, partner.file), plain_words(partner.snippet)) for partner in files]
    return [Table(("file", "why"), rows, title=title)] if rows else []


def notes_table(title: str, notes: Sequence[ShownNote], most: int = 20) -> list[Table]:
    """Describe notes that cite something, with the words around their links."""
    titles = [
        note.citing_words if starts_text(note.title, note.citing_words) else note.title
        for note in notes
    ]
    rows = [
        (
            Place(note.path, note.links[0].row.line if note.links else 1),
            note.created_at[:_DAY],
            title,
        )
        for note, title in zip(notes, titles, strict=True)
    ]
    below = [
        "" if has_same_words(title, note.citing_words) else note.citing_words
        for note, title in zip(notes, titles, strict=True)
    ]
    headings = ("note", "written", "title")
    return [Table(headings, rows, below=below, title=title, most=most)] if rows else []


def view_definition(symbol: SymbolRow, code: Codebase | None = None, doc: str = "") -> Block:
    """Describe what a symbol is, where, its signature, and its doc comment."""
    where = ""  # a commit has none
    if symbol.path:
        where = _write_place(code, symbol.path, symbol.line)
        where += f"-{symbol.end_line - 1}" if code is None else ""
    lines: list[Sequence[Piece | Place]] = [
        [(symbol.name, "bold"), f"  {symbol.kind}  ", (where, "place"), (f"  {symbol.id}", "dim")],
        [f"  {symbol.signature}"],
    ]
    return Block([*lines, *([f"  {line}"] for line in doc.splitlines())])


def _list_call_tables(details: SymbolDetails, code: Codebase | None = None) -> list[Block | Table]:
    hidden = details.unclear_callers - len(details.may_call)
    unclear_line: Sequence[Piece] = [(f"  {describe_unclear(hidden)}", "dim")]
    return [
        *calls_table("calls", details.calls, code),
        *calls_table("called by", details.called_by, code),
        *calls_table("may call it", details.may_call, code),
        *([Block([unclear_line])] if hidden > 0 else []),
    ]


def _write_callers(affected: SymbolDetails, code: Codebase | None) -> str:
    """Return what calls a symbol of a file, on one line."""
    callers = [
        f"{call.name} ({_write_place(code, call.path, call.line)})"
        for call in affected.called_by
        if call.path
    ]
    more = len(callers) - _MOST_CALLERS
    texts = [
        *callers[:_MOST_CALLERS],
        *([f"{more} more"] if more > 0 else []),
        *([f"{affected.unclear_callers} unclear"] if affected.unclear_callers else []),
    ]
    return f"called by {', '.join(texts)}" if texts else ""


def _write_place(code: Codebase | None, path: str, line: int | None = None) -> str:
    """Return where a file of the code is: as seen from the working directory, or as its path."""
    if code is not None:
        return show_place(code.root / path, line)
    return f"{path}:{line}" if line else path
