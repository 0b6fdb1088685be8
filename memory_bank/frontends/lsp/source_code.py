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
from memory_bank.frontends.lsp import navigation, symbol_notes
from memory_bank.frontends.lsp.buffers import (
    Clock,
    Editor,
    Positions,
    positions,
)
from memory_bank.frontends.lsp.open_banks import OpenBank
from memory_bank.frontends.lsp.symbol_notes import SymbolContext
from memory_bank.frontends.serving.shared_bank import SharedCode

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
        return positions(self.text, self.editor.encoding)


def hover(asked: AskedCode, params: HoverParams, clock: Clock) -> Hover | None:
    """Return what is known of the symbol under the cursor."""
    code = asked.shared.code
    if not asked.path or not asked.text:
        return None
    offset = asked.lines.offset(params.position)
    word, start, end = symbol_notes.word_at(asked.text, offset)
    line = params.position.line + 1
    with code.lock:
        one = symbol_notes.pointed(code, asked.path, asked.text, line, word)
        if one is None:
            return None
    cited = symbol_notes.cited(code, asked.bank, one.path)
    with code.lock:
        coupled = asked.shared.coupled(one.path)
        found = symbol_notes.context(code, one, cited, coupled)
    if found.id and clock.due(found.id):
        asked.after.append(lambda: code.count_access([found.id]))
    text = of_symbol(found, time.time())
    plain = text.replace("\\", "").replace("**", "")
    return Hover(navigation.markup(asked.editor, text, plain), asked.lines.range(start, end))


def of_symbol(found: SymbolContext, now: float) -> str:
    """Return the hover of a symbol; its context, if there is any, is below a rule."""
    parts = [f"## {navigation.code(found.name)}"]
    if found.purpose:
        parts.append(f"**Purpose:** {navigation.escaped(found.purpose)}")
    if found.calls:
        calls = ", ".join(one if one == "…" else navigation.code(one) for one in found.calls)
        parts.append(f"**Dependencies:** calls, by name: {calls}")
    context = "  \n".join(_context(found, now))
    if context:
        parts.append(f"---\n{context}")
    return "\n\n".join(parts)


def _context(found: SymbolContext, now: float) -> list[str]:
    lines = []
    if found.note:
        sentence = navigation.escaped(_short(found.note.sentence))
        age = now - datetime.fromisoformat(found.note.created_at).timestamp()
        lines.append(f'📝 *"{sentence}"* ({ago(age)})')
    if found.coupled:
        name = navigation.escaped(Path(found.coupled.file).name)
        share = f"{found.coupled.confidence:.0%}"
        lines.append(f"⚠️ *Co-changes with {name} ({share}, {found.coupled.risk})*")
    if found.guards:
        count = len(found.guards)
        names = ", ".join(navigation.escaped(_short(one)) for one in found.guards[:3])
        lines.append(f"🧪 *{count} test guard{'s' if count > 1 else ''}: {names}*")
    return lines


def ago(seconds: float) -> str:
    """Return how long ago something was: `5m ago`, `3h ago`, `2d ago`, `4mo ago`, `2y ago`."""
    minutes = max(0, int(seconds // 60))
    if minutes < 1:
        return "just now"
    for size, limit, unit in _UNITS:
        if minutes < limit:
            return f"{minutes // size}{unit} ago"
    return f"{minutes // 525_600}y ago"


def _short(text: str, most: int = 160) -> str:
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"
