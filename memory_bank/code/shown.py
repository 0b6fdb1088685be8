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


def given_path(given: str) -> str:
    """Return a path as the shell completes it, from the working directory, else as answers do."""
    here = Path(given)
    return str(here.absolute()) if here.exists() else given


def symbols(call: Call, found: SymbolList, code: Codebase, limit: int) -> int:
    """Show a line for each symbol."""
    call.answer(found, lambda found: _symbols(call, code.root, found))
    call.warn(found.problem)
    if call.json:
        return FOUND if found.symbols else NOTHING
    if not found.symbols:
        call.remark("no symbols")
    elif found.found_by == "search":
        call.remark("no name has these words: found by words and meaning")
    if found.more:
        call.remark(f"there are more than {max(limit, 1)}: use --limit, or more words")
    return FOUND if found.symbols else NOTHING


def _symbols(call: Call, root: Path, found: SymbolList) -> None:
    rows = [
        (place(root / one.path, one.line), one.kind, one.name, one.snippet) for one in found.symbols
    ]
    if rows:
        call.console.table(("place", "kind", "name", "about"), rows, "about")


def explained(call: Call, found: ExplainedSymbol, code: Codebase) -> None:
    """Show a symbol with all that has to do with it."""
    call.answer(found, lambda found: _explained(call, code.root, found))
    call.warn(found.details.problem)
    call.notices(found.notices)


def _explained(call: Call, root: Path, found: ExplainedSymbol) -> None:
    view, console, details = CodeAnswerView(call, root), call.console, found.details
    one = details.symbol
    view.definition(one)
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
    view.tests(found.tests)
    view.coupled(found.coupled)
    view.notes("notes", found.notes)
    view.notes(f"notes of {one.path}", found.file_notes)
    view.notes(f"rules for {one.path}", found.rules)
    if view.heading("commits with more than a subject, and the newest", found.commits):
        for made in found.commits:
            reason = sentence_below(made.reason)
            console.line(f"  {made.committed_at[:10]}  {made.subject}")
            if reason:
                console.line((f"              {reason}", "dim"))


def affected(call: Call, found: BlastRadius, code: Codebase) -> int:
    """Show what a change of a file may affect."""
    call.answer(found, lambda found: _affected(call, code.root, found))
    call.warn(found.problem)
    call.notices(found.notices)
    some = any((found.symbols, found.coupled, found.tests, found.notes))
    if not some and not call.json:
        call.remark(f"nothing is known to depend on {found.file}")
    return FOUND if some else NOTHING


def _affected(call: Call, root: Path, found: BlastRadius) -> None:
    view, console = CodeAnswerView(call, root), call.console
    if view.heading(f"symbols of {found.file}", found.symbols):
        for one in found.symbols:
            where = view.place(found.file, one.symbol.line)
            name = f"  {one.symbol.kind}  {one.symbol.name}{one_of(one.others)}"
            console.line(_INDENT, (where, "place"), name)
            for each in one.called_by:
                if each.path:
                    console.line(
                        f"{_INDENT * 2}called in ", (view.place(each.path, each.line), "place")
                    )
            if one.unclear_callers:
                console.line((f"{_INDENT * 2}{unclear(one.unclear_callers)}", "dim"))
    view.depended(found.coupled)
    view.tests(found.tests)
    for one in found.symbols:
        view.notes(f"notes of {one.symbol.name}", one.notes)
    view.notes(f"notes of {found.file}", found.notes)


def tests(call: Call, found: GuardingTests, code: Codebase, limit: int) -> int:
    """Show the tests that guard a symbol or a file."""
    call.answer(found, lambda found: CodeAnswerView(call, code.root).tests(found.tests))
    call.warn(found.problem)
    if not call.json and not found.tests:
        call.remark(f"no test is known to guard {found.name}")
    if found.more and not call.json:
        call.remark(f"there are more than {max(limit, 1)}: use --limit")
    return FOUND if found.tests else NOTHING


def coupled(call: Call, found: CouplingAnswer) -> int:
    """Show the files that change with a file."""
    if call.json:
        call.document(found)
        return FOUND if found.files else NOTHING
    commits = count(found.commits, "commit")
    if found.files:
        call.console.line((f"{named(found.file)}, {commits}", "bold"))
        headings = ("file", "why", "last", "risk")
        rows = [
            (
                named(one.file),
                f"in {one.support} of {commits}" if one.support else plain_words(one.snippet),
                one.last_changed[:10],
                one.risk,
            )
            for one in found.files
        ]
        call.console.table(headings, rows)
    else:
        call.remark(f"no file is coupled with {found.file} ({commits})")
    call.notices(found.notices)
    return FOUND if found.files else NOTHING


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

    def definition(self, one: SymbolShown) -> None:
        """Print what a symbol is, where, and its signature."""
        where = self.place(one.path, one.line)
        kind, number = f"  {one.kind}  ", f"  {one.id}"
        self._console.line((one.name, "bold"), kind, (where, "place"), (number, "dim"))
        self._console.line(_INDENT, one.signature)

    def calls(self, title: str, calls: Sequence[CallShown]) -> None:
        """Print calls to or from a symbol; those that may mean several have no place."""
        if self.heading(title, calls):
            rows = [
                (
                    _INDENT + (self.place(one.path, one.line) if one.path else "-"),
                    one.name or one.written,
                    one.how or resolved_to(one.alike),
                )
                for one in calls
            ]
            self._console.table(("place", "name", "found by"), rows)

    def tests(self, tests: Sequence[GuardShown]) -> None:
        """Print tests that guard something."""
        if self.heading("tests", tests):
            rows = [
                (_INDENT + self.place(one.test_file, one.line), one.title, one.how) for one in tests
            ]
            self._console.table(("place", "test", "because"), rows, "test")

    def coupled(self, files: Sequence[CoupledFile]) -> None:
        """Print files that change with a file."""
        if self.heading("changes with", files):
            rows = [
                (
                    _INDENT + self.place(one.file), f"{one.confidence:.0%}",
                    count(one.support, "commit"), one.risk,
                )
                for one in files
            ]  # fmt: skip
            self._console.table(("file", "share", "commits", "risk"), rows)

    def depended(self, files: Sequence[CoupledFile]) -> None:
        """Print files that may change with a file, and why."""
        if self.heading("may change with it", files):
            rows = [(_INDENT + self.place(one.file), one.snippet) for one in files]
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
