"""What is known of the symbol under the cursor."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from memory_bank.bank.bank import Bank
from memory_bank.bank.hits import ShownNote
from memory_bank.base import NamedTuple, lazy_pattern, shorten
from memory_bank.code.call_targets import Caller
from memory_bank.code.citing_notes import CitingNotes, find_citing_notes
from memory_bank.code.coupled import LOW, RISKS, CoupledFile
from memory_bank.code.index.codebase import Codebase
from memory_bank.code.index.database import SymbolRow, last_part
from memory_bank.code.parse import parsing
from memory_bank.code.parse.parsed_file import ParsedFile, Symbol
from memory_bank.frontends.lsp.open_texts import LastAnswer

_WORD = lazy_pattern(r"[^\W\d]\w*")

_PARSED: LastAnswer[tuple[str, str], ParsedFile] = LastAnswer(64)

MAX_CHARACTERS = 1_000_000
"""Characters of a file that is parsed in an editor."""


def parse_text(path: str, text: str) -> ParsedFile | None:
    """Return what is in a text with the name of a file; None for an unknown language."""
    first, _, _ = text[:200].partition("\n")
    language = parsing.detect_language(path, first)
    if language is None or len(text) > MAX_CHARACTERS:
        return None

    def parse() -> ParsedFile:
        return parsing.parse(text.encode("utf-8", errors="replace"), language)

    return _PARSED.get(path, (text, language), parse)


def word_at(text: str, offset: int) -> tuple[str, int, int]:
    """Return the identifier at an offset, and its offsets; an empty one if there is none."""
    start = text.rfind("\n", 0, offset) + 1
    end = text.find("\n", offset)
    line = text[start : len(text) if end < 0 else end]
    for match in _WORD.finditer(line):
        if start + match.start() <= offset <= start + match.end():
            return match[0], start + match.start(), start + match.end()
    return "", offset, offset


def symbols_around(file: ParsedFile, line: int) -> list[Symbol]:
    """Return the symbols whose lines have a 1-based line, the innermost first."""
    symbols = [symbol for symbol in file.symbols if symbol.line <= line < symbol.end_line]
    return sorted(symbols, key=lambda symbol: symbol.end_line - symbol.line)


MAX_CALLS = 8
"""Calls that a hover lists."""

MAX_PURPOSE = 400
"""Characters of the doc text."""

_RISK = {word: number for number, (word, _, _) in enumerate(RISKS)}


class Pointed(NamedTuple):
    """The symbol that an identifier means."""

    symbol: Symbol
    path: str
    """The path of its file below the work tree."""
    row: SymbolRow | None
    """Its row in the table, if the table has it."""


class SymbolContext(NamedTuple):
    """A symbol with its context; what is not known is empty."""

    name: str
    id: str
    purpose: str
    calls: tuple[str, ...]
    note: ShownNote | None = None
    coupled: CoupledFile | None = None
    guards: tuple[str, ...] = ()
    """The titles of the tests that guard it, the surest first."""


def find_pointed(code: Codebase, path: str, text: str, line: int, word: str) -> Pointed | None:
    """Return the symbol that an identifier on a line means.

    That is the definition around it, what the definition around it calls by that name, the only
    symbol of that name in the file, or what the file imports by it. The table is asked as it is.
    """
    file = parse_text(path, text)
    enclosing = symbols_around(file, line) if file else []
    definition = next((symbol for symbol in enclosing if symbol.name == word), None)
    if definition:
        return Pointed(definition, path, _find_row(code, path, definition.qualified))
    callee = _find_called(code, path, enclosing, word)
    if callee:
        return Pointed(callee.symbol, callee.path, callee)
    unresolved = any(last_part(call) == word for outer in enclosing for call in outer.calls)
    if file is None or not word or unresolved:  # such a call may mean another symbol of that name
        return None
    namesakes = [symbol for symbol in file.symbols if symbol.name == word]
    if namesakes:
        row = _find_row(code, path, namesakes[0].qualified)
        return Pointed(namesakes[0], path, row) if len(namesakes) == 1 else None
    target = code.relations().calls.find_target(word, Caller(path, file.language, ""))
    return Pointed(target.symbol.symbol, target.symbol.path, target.symbol) if target else None


def view_context(
    code: Codebase, pointed: Pointed, citing: CitingNotes, coupled: Sequence[CoupledFile] = ()
) -> SymbolContext:
    """Return a symbol's context from the notes that cite its file and symbols.

    `coupled` are the files that change with its file.
    """
    row = pointed.row
    notes = [*(citing.symbols.get(row.id, ()) if row else ()), *citing.file]
    return SymbolContext(
        name=pointed.symbol.qualified,
        id=row.id if row else "",
        purpose=_cut_purpose(pointed.symbol.doc),
        calls=_list_calls(code, pointed),
        note=next(iter(notes), None),
        coupled=find_riskiest(coupled),
        guards=_list_guards(code, row) if row else (),
    )


def find_riskiest(files: Sequence[CoupledFile]) -> CoupledFile | None:
    """Return the coupled file of the highest risk, the strongest of several; None at low risk."""
    risky = [file for file in files if file.risk != LOW]
    return min(
        risky,
        key=lambda files: (_RISK[files.risk], -files.fused_score),
        default=None,
    )


def find_citing(code: Codebase, bank: Bank | None, path: str) -> CitingNotes:
    """Return the notes that cite a file and its symbols, by the index as it is.

    The lock of the code may not be held.
    """
    return find_citing_notes(code, bank, path, catch_up=False)


def below_tree(code: Codebase, file: str) -> str:
    """Return the path below the work tree of a file; empty for one outside."""
    for form in (Path(file), Path(file).resolve()):
        if form.is_relative_to(code.root):
            return form.relative_to(code.root).as_posix()
    return ""


def _find_row(code: Codebase, path: str, qualified: str) -> SymbolRow | None:
    rows = code.table.symbols("f.path = ? AND s.qualified = ?", path, qualified)
    return rows[0] if rows else None


def _find_called(
    code: Codebase, path: str, enclosing: Sequence[Symbol], word: str
) -> SymbolRow | None:
    graph = code.relations().calls
    for outer in enclosing:
        row = _find_row(code, path, outer.qualified)
        for callee in graph.callees(row) if row else ():
            if callee.called is not None and last_part(callee.written) == word:
                return callee.called
    return None


def _cut_purpose(doc: str) -> str:
    """Return the first paragraph of a doc comment on one line."""
    return shorten(" ".join(doc.strip().partition("\n\n")[0].split()), MAX_PURPOSE)


def _list_calls(code: Codebase, pointed: Pointed) -> tuple[str, ...]:
    """Return the calls of a symbol as written: those of symbols of this code, else all."""
    calls = list(pointed.symbol.calls)
    if pointed.row is not None:
        call_names = [
            call.written
            for call in code.relations().calls.callees(pointed.row)
            if call.written in calls
        ]
        calls = call_names or calls
    more = ("…",) if len(calls) > MAX_CALLS else ()
    return (*calls[:MAX_CALLS], *more)


def _list_guards(code: Codebase, row: SymbolRow) -> tuple[str, ...]:
    guards = code.relations().guards.of_symbol(row)
    return tuple(dict.fromkeys(guard.test.intent.title for guard in guards))
