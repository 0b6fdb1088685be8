"""Hovers in source files."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime
from functools import cached_property
from pathlib import Path

from lsprotocol.types import (
    Hover,
    HoverParams,
)

from memory_bank.bank.bank import Bank
from memory_bank.base import shorten
from memory_bank.frontends.lsp import navigation, symbol_notes
from memory_bank.frontends.lsp.buffers import (
    Clock,
    Editor,
    Positions,
    read_positions,
)
from memory_bank.frontends.lsp.open_banks import OpenBank
from memory_bank.frontends.lsp.symbol_notes import SymbolContext
from memory_bank.frontends.serving.shared_bank import SharedCode

_LONGEST = 160
"""Characters of a sentence, and of the name of a test."""

_UNITS = ((1, 60, "m"), (60, 1440, "h"), (1440, 86_400, "d"), (43_200, 525_600, "mo"))
"""Minutes of a unit, minutes below which it is used, and its sign."""


class AskedCode:
    """A request about a source file, in a worker thread."""

    def __init__(
        self, shared: SharedCode, opened: OpenBank | None, editor: Editor, file: str
    ) -> None:
        """Take the code of the file's work tree, and its bank if there is one."""
        self.shared = shared
        self.editor = editor
        self.file = file
        self.bank: Bank | None = opened.shared.bank() if opened else None
        self.path = symbol_notes.below_tree(shared.code, file)
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


def hover(question: AskedCode, params: HoverParams, clock: Clock) -> Hover | None:
    """Return what is known of the symbol under the cursor."""
    code = question.shared.code
    if not question.path or not question.text:
        return None
    offset = question.lines.offset(params.position)
    word, start, end = symbol_notes.word_at(question.text, offset)
    line = params.position.line + 1
    with code.lock:
        pointed = symbol_notes.find_pointed(code, question.path, question.text, line, word)
        if pointed is None:
            return None
    cited = symbol_notes.find_citing(code, question.bank, pointed.path)
    with code.lock:
        coupled = question.shared.coupled(pointed.path)
        symbol_context = symbol_notes.view_context(code, pointed, cited, coupled)
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
