"""Answers to textDocument/completion."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from lsprotocol.types import (
    CompletionItem,
    CompletionItemKind,
    CompletionList,
    CompletionParams,
    TextEdit,
)

from memory_bank.actions.editor.choice import Choice
from memory_bank.actions.editor.completion import choices
from memory_bank.frontends.fencing import one_line
from memory_bank.frontends.lsp.asked import Asked
from memory_bank.frontends.lsp.codebases import Codebases

if TYPE_CHECKING:
    from memory_bank.codebase import Codebase

_KINDS = {
    "note": CompletionItemKind.File,
    "title": CompletionItemKind.Reference,
    "alias": CompletionItemKind.Reference,
    "heading": CompletionItemKind.Module,
    "block": CompletionItemKind.Constant,
    "file": CompletionItemKind.File,
    "symbol": CompletionItemKind.Function,
    "value": CompletionItemKind.Value,
}


def complete(asked: Asked, params: CompletionParams, codebases: Codebases) -> CompletionList:
    """Return the choices at the cursor of a note, the best first."""
    if not asked.path:
        return CompletionList(is_incomplete=False, items=[])
    code_of = partial(_code_around, asked, codebases)
    offset = asked.offset(params.position)
    found = choices(asked.texts, asked.path, asked.text, offset, code_of)
    items = [_item(asked, number, choice) for number, choice in enumerate(found.found)]
    return CompletionList(is_incomplete=not found.complete, items=items)


def _item(asked: Asked, number: int, choice: Choice) -> CompletionItem:
    return CompletionItem(
        label=one_line(choice.label),
        kind=_KINDS[choice.kind],
        detail=one_line(choice.detail) or None,
        filter_text=choice.typed,
        sort_text=f"{number:06}",
        text_edit=TextEdit(asked.range(choice.start, choice.end), choice.text),
    )


def _code_around(asked: Asked, codebases: Codebases) -> Codebase | None:
    """Return the code around the bank, which is read in its thread; None without any."""
    shared = codebases.of(asked.bank.layout.root)
    return shared.asked() if shared is not None and shared.enabled else None
