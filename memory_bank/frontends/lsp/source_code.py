"""Hovers in source files: what is known of the symbol under the cursor."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import cached_property
from pathlib import Path

from lsprotocol.types import Hover, HoverParams

from memory_bank.bank.bank import Bank
from memory_bank.bank.records import ShownNote
from memory_bank.base import NamedTuple, lazy_pattern, shorten
from memory_bank.code.call_targets import Caller
from memory_bank.code.citing_notes import CitingNotes, find_citing_notes
from memory_bank.code.coupled import LOW, RISKS, CoupledFile
from memory_bank.code.index.codebase import Codebase
from memory_bank.code.index.database import SymbolRow, last_part
from memory_bank.code.parse.parsed_file import ParsedFile, Symbol
from memory_bank.frontends.lsp import navigation
from memory_bank.frontends.lsp.buffers import Clock, Editor, OpenBank, Positions, read_positions
from memory_bank.frontends.lsp.open_texts import parse_text
from memory_bank.frontends.serving.shared_bank import SharedCode

_LONGEST = 160
"""Characters of a sentence, and of the name of a test."""

_WORD = lazy_pattern(r"[^\W\d]\w*")

_UNITS = ((1, 60, "m"), (60, 1440, "h"), (1440, 86_400, "d"), (43_200, 525_600, "mo"))
"""Minutes of a unit, minutes below which it is used, and its sign."""


class CodeRequest:
    """A request about a source file, in a worker thread."""

    def __init__(
        self, shared: SharedCode, opened: OpenBank | None, editor: Editor, file: str
    ) -> None:
        """Take the code of the file's work tree, and its bank if there is one."""
        self.shared = shared
        self.editor = editor
        self.file = file
        self.bank: Bank | None = opened.shared.bank() if opened else None
        self.path = below_tree(shared.code, file)
        self.after: list[Callable[[], object]] = []
        """What is left to do after the answer."""

    @cached_property
    def text(self) -> str:
        """The file's text in the editor."""
        buffer = self.editor.buffers.get(self.file)
        return buffer.text if buffer else ""

    @property
    def lines(self) -> Positions:
        """The lines of the file."""
        return read_positions(self.text, self.editor.encoding)


def hover(question: CodeRequest, params: HoverParams, clock: Clock) -> Hover | None:
    """Return what is known of the symbol under the cursor."""
    code = question.shared.code
    if not question.path or not question.text:
        return None
    offset = question.lines.offset(params.position)
    word, start, end = word_at(question.text, offset)
    line = params.position.line + 1
    with code.lock:
        pointed = find_cursor_symbol(code, question.path, question.text, line, word)
        if pointed is None:
            return None
    cited = find_citing_notes(code, question.bank, pointed.path, catch_up=False)
    with code.lock:
        coupled = question.shared.coupled(pointed.path)
        symbol_context = view_context(code, pointed, cited, coupled)
    if symbol_context.id and clock.due(symbol_context.id):
        question.after.append(lambda: code.count_access([symbol_context.id]))
    text = describe_symbol(symbol_context, time.time())
    plain = text.replace("\\", "").replace("**", "")
    return Hover(
        navigation.format_hover(question.editor, text, plain), question.lines.range(start, end)
    )


def describe_symbol(symbol_context: SymbolContext, now: float) -> str:
    """Return the hover of a symbol; its context, if there is any, is below a rule."""
    parts = [f"## {navigation.format_code(symbol_context.name)}"]
    if symbol_context.purpose:
        parts.append(f"**Purpose:** {navigation.escape_markdown(symbol_context.purpose)}")
    if symbol_context.calls:
        calls = ", ".join(
            call if call == "…" else navigation.format_code(call) for call in symbol_context.calls
        )
        parts.append(f"**Dependencies:** calls, by name: {calls}")
    context = "  \n".join(_describe_context(symbol_context, now))
    if context:
        parts.append(f"---\n{context}")
    return "\n\n".join(parts)


def _describe_context(symbol_context: SymbolContext, now: float) -> list[str]:
    lines = []
    if symbol_context.note:
        sentence = navigation.escape_markdown(shorten(symbol_context.note.sentence or "", _LONGEST))
        age = now - datetime.fromisoformat(symbol_context.note.created_at).timestamp()
        lines.append(f'📝 *"{sentence}"* ({format_age(age)})')
    if symbol_context.coupled:
        name = navigation.escape_markdown(Path(symbol_context.coupled.file).name)
        share = f"{symbol_context.coupled.confidence:.0%}"
        lines.append(f"⚠️ *Co-changes with {name} ({share}, {symbol_context.coupled.risk})*")
    if symbol_context.guards:
        count = len(symbol_context.guards)
        names = ", ".join(
            navigation.escape_markdown(shorten(guard, _LONGEST))
            for guard in symbol_context.guards[:3]
        )
        lines.append(f"🧪 *{count} test guard{'s' if count > 1 else ''}: {names}*")
    return lines


def format_age(seconds: float) -> str:
    """Return how long ago something was: `5m ago`, `3h ago`, `2d ago`, `4mo ago`, `2y ago`."""
    minutes = max(0, int(seconds // 60))
    if minutes < 1:
        return "just now"
    for size, limit, unit in _UNITS:
        if minutes < limit:
            return f"{minutes // size}{unit} ago"
    return f"{minutes // 525_600}y ago"


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


class CursorSymbol(NamedTuple):
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


def find_cursor_symbol(
    code: Codebase, path: str, text: str, line: int, word: str
) -> CursorSymbol | None:
    """Return the symbol that an identifier on a line means.

    That is the definition around it, what the definition around it calls by that name, the only
    symbol of that name in the file, or what the file imports by it. The table is asked as it is.
    """
    file = parse_text(path, text)
    enclosing = symbols_around(file, line) if file else []
    definition = next((symbol for symbol in enclosing if symbol.name == word), None)
    if definition:
        return CursorSymbol(definition, path, _find_row(code, path, definition.qualified))
    callee = _find_called(code, path, enclosing, word)
    if callee:
        return CursorSymbol(callee.symbol, callee.path, callee)
    unresolved = any(last_part(call) == word for outer in enclosing for call in outer.calls)
    if file is None or not word or unresolved:  # such a call may mean another symbol of that name
        return None
    namesakes = [symbol for symbol in file.symbols if symbol.name == word]
    if namesakes:
        row = _find_row(code, path, namesakes[0].qualified)
        return CursorSymbol(namesakes[0], path, row) if len(namesakes) == 1 else None
    target = code.relations().calls.find_target(word, Caller(path, file.language, ""))
    return CursorSymbol(target[0].symbol, target[0].path, target[0]) if target else None


def view_context(
    code: Codebase, pointed: CursorSymbol, citing: CitingNotes, coupled: Sequence[CoupledFile] = ()
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
            if isinstance(callee.row, SymbolRow) and last_part(callee.written) == word:
                return callee.row
    return None


def _cut_purpose(doc: str) -> str:
    """Return the first paragraph of a doc comment on one line."""
    return shorten(" ".join(doc.strip().partition("\n\n")[0].split()), MAX_PURPOSE)


def _list_calls(code: Codebase, pointed: CursorSymbol) -> tuple[str, ...]:
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
