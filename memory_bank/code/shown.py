"""Show what is known of code on a terminal: symbols, calls, tests, coupled files, notes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from memory_bank.base.rendering import count, named, one_of, resolved_to, same_words, unclear
from memory_bank.base.screen import FOUND, NOTHING, Call, place
from memory_bank.code.index.codebase import Codebase
from memory_bank.code.records import (
    BlastRadius,
    CallShown,
    CitingNote,
    CoupledFile,
    CouplingAnswer,
    ExplainedSymbol,
    GuardingTests,
    GuardShown,
    SymbolList,
    SymbolShown,
    plain_words,
)
from memory_bank.notes.sections import sentence_below

_INDENT = "  "


def given_path(text: str) -> str:
    """Return a path as the shell completes it, from the working directory, else as answers do."""
    here = Path(text)
    return str(here.absolute()) if here.exists() else text


def symbols(call: Call, symbol_list: SymbolList, code: Codebase, limit: int) -> int:
    """Show a line for each symbol."""
    call.answer(symbol_list, lambda symbol_list: _symbols(call, code.root, symbol_list))
    call.warn(symbol_list.problem)
    if call.json:
        return FOUND if symbol_list.symbols else NOTHING
    if not symbol_list.symbols:
        call.remark("no symbols")
    elif symbol_list.found_by == "search":
        call.remark("no name has these words: found by words and meaning")
    if symbol_list.more:
        call.remark(f"there are more than {max(limit, 1)}: use --limit, or more words")
    return FOUND if symbol_list.symbols else NOTHING


def _symbols(call: Call, root: Path, symbol_list: SymbolList) -> None:
    rows = [
        (place(root / symbol.path, symbol.line), symbol.kind, symbol.name, symbol.snippet)
        for symbol in symbol_list.symbols
    ]
    if rows:
        call.console.table(("place", "kind", "name", "about"), rows, "about")


def explained(call: Call, symbol: ExplainedSymbol, code: Codebase) -> None:
    """Show a symbol with all that has to do with it."""
    call.answer(symbol, lambda symbol: _explained(call, code.root, symbol))
    call.warn(symbol.details.problem)
    call.notices(symbol.notices)


def _explained(call: Call, root: Path, symbol: ExplainedSymbol) -> None:
    view, console, details = CodeAnswerView(call, root), call.console, symbol.details
    current_symbol = details.symbol
    view.definition(current_symbol)
    if details.doc:
        console.block(details.doc, "  ")
    if details.access_count:
        times, last = count(details.access_count, "time"), details.last_accessed_at[:10]
        console.line((f"  asked for {times}, last on {last}", "dim"))
    view.calls("calls", details.calls)
    view.calls("called by", details.called_by)
    view.calls("may call it", details.may_call)
    if details.unclear_callers > len(details.may_call):
        console.line((f"  {unclear(details.unclear_callers - len(details.may_call))}", "dim"))
    view.tests(symbol.tests)
    view.coupled(symbol.coupled)
    view.notes("notes", symbol.notes)
    view.notes(f"notes of {current_symbol.path}", symbol.file_notes)
    view.notes(f"rules for {current_symbol.path}", symbol.rules)
    if view.heading("commits with more than a subject, and the newest", symbol.commits):
        for commit in symbol.commits:
            reason = sentence_below(commit.reason)
            console.line(f"  {commit.committed_at[:10]}  {commit.subject}")
            if reason:
                console.line((f"              {reason}", "dim"))


def affected(call: Call, blast_radius: BlastRadius, code: Codebase) -> int:
    """Show what a change of a file may affect."""
    call.answer(blast_radius, lambda blast_radius: _affected(call, code.root, blast_radius))
    call.warn(blast_radius.problem)
    call.notices(blast_radius.notices)
    is_first = any(
        (blast_radius.symbols, blast_radius.coupled, blast_radius.tests, blast_radius.notes)
    )
    if not is_first and not call.json:
        call.remark(f"nothing is known to depend on {blast_radius.file}")
    return FOUND if is_first else NOTHING


def _affected(call: Call, root: Path, blast_radius: BlastRadius) -> None:
    view, console = CodeAnswerView(call, root), call.console
    if view.heading(f"symbols of {blast_radius.file}", blast_radius.symbols):
        for symbol in blast_radius.symbols:
            where = view.place(blast_radius.file, symbol.symbol.line)
            name = f"  {symbol.symbol.kind}  {symbol.symbol.name}{one_of(symbol.others)}"
            console.line(_INDENT, (where, "place"), name)
            for current_call in symbol.called_by:
                if current_call.path:
                    console.line(
                        f"{_INDENT * 2}called in ",
                        (view.place(current_call.path, current_call.line), "place"),
                    )
            if symbol.unclear_callers:
                console.line((f"{_INDENT * 2}{unclear(symbol.unclear_callers)}", "dim"))
    view.depended(blast_radius.coupled)
    view.tests(blast_radius.tests)
    for symbol in blast_radius.symbols:
        view.notes(f"notes of {symbol.symbol.name}", symbol.notes)
    view.notes(f"notes of {blast_radius.file}", blast_radius.notes)


def tests(call: Call, guarding_tests: GuardingTests, code: Codebase, limit: int) -> int:
    """Show the tests that guard a symbol or a file."""
    call.answer(
        guarding_tests,
        lambda guarding_tests: CodeAnswerView(call, code.root).tests(guarding_tests.tests),
    )
    call.warn(guarding_tests.problem)
    if not call.json and not guarding_tests.tests:
        call.remark(f"no test is known to guard {guarding_tests.name}")
    if guarding_tests.more and not call.json:
        call.remark(f"there are more than {max(limit, 1)}: use --limit")
    return FOUND if guarding_tests.tests else NOTHING


def coupled(call: Call, coupling_answer: CouplingAnswer) -> int:
    """Show the files that change with a file."""
    if call.json:
        call.document(coupling_answer)
        return FOUND if coupling_answer.files else NOTHING
    commits = count(coupling_answer.commits, "commit")
    if coupling_answer.files:
        call.console.line((f"{named(coupling_answer.file)}, {commits}", "bold"))
        headings = ("file", "why", "last", "risk")
        rows = [
            (
                named(coupled_file.file),
                f"in {coupled_file.support} of {commits}"
                if coupled_file.support
                else plain_words(coupled_file.snippet),
                coupled_file.last_changed[:10],
                coupled_file.risk,
            )
            for coupled_file in coupling_answer.files
        ]
        call.console.table(headings, rows)
    else:
        call.remark(f"no file is coupled with {coupling_answer.file} ({commits})")
    call.notices(coupling_answer.notices)
    return FOUND if coupling_answer.files else NOTHING


class CodeAnswerView:
    """Print the parts of one answer about code."""

    def __init__(self, call: Call, root: Path) -> None:
        """Print paths below `root`, as seen from the working directory."""
        self._call = call
        self._console = call.console
        self._root = root

    def heading(self, title: str, items: Sequence[object]) -> bool:
        """Print a heading with a number if there are items; return whether there are."""
        if items:
            self._console.line((f"{title} ({len(items)})", "bold"))
        return bool(items)

    def place(self, path: str, line: int | None = None) -> str:
        """Return where a file of the code is."""
        return place(self._root / path, line)

    def definition(self, symbol: SymbolShown) -> None:
        """Print what a symbol is, where, and its signature."""
        where = self.place(symbol.path, symbol.line) if symbol.path else ""  # a commit has none
        kind, number = f"  {symbol.kind}  ", f"  {symbol.id}"
        self._console.line((symbol.name, "bold"), kind, (where, "place"), (number, "dim"))
        self._console.line(_INDENT, symbol.signature)

    def calls(self, title: str, calls: Sequence[CallShown]) -> None:
        """Print calls to or from a symbol; those that may mean several have no place."""
        if self.heading(title, calls):
            rows = [
                (
                    _INDENT + (self.place(call.path, call.line) if call.path else "-"),
                    call.name or call.written,
                    call.how or resolved_to(call.alike),
                )
                for call in calls
            ]
            self._console.table(("place", "name", "found by"), rows)

    def tests(self, tests: Sequence[GuardShown]) -> None:
        """Print tests that guard something."""
        if self.heading("tests", tests):
            rows = [
                (_INDENT + self.place(guard.test_file, guard.line), guard.title, guard.how)
                for guard in tests
            ]
            self._console.table(("place", "test", "because"), rows, "test")

    def coupled(self, files: Sequence[CoupledFile]) -> None:
        """Print files that change with a file."""
        if self.heading("changes with", files):
            rows = [
                (
                    _INDENT + self.place(coupled_file.file), f"{coupled_file.confidence:.0%}",
                    count(coupled_file.support, "commit"), coupled_file.risk,
                )
                for coupled_file in files
            ]  # fmt: skip
            self._console.table(("file", "share", "commits", "risk"), rows)

    def depended(self, files: Sequence[CoupledFile]) -> None:
        """Print files that may change with a file, and why."""
        if self.heading("may change with it", files):
            rows = [
                (_INDENT + self.place(coupled_file.file), coupled_file.snippet)
                for coupled_file in files
            ]
            self._console.table(("file", "why"), rows)

    def notes(self, title: str, notes: Sequence[CitingNote]) -> None:
        """Print notes that cite something, with the words around their links."""
        self.heading(title, notes)
        for note in notes:
            first = note.links[0] if note.links else None
            where = self._call.place(note.path, first.line if first else 1)
            self._console.line(
                _INDENT, (where, "place"), "  ", (named(note.title), "bold"),
                (f"  {note.created_at[:10]}", "dim"),
            )  # fmt: skip
            if not same_words(note.title, note.said):
                self._console.block(note.said, _INDENT * 3, "dim")
