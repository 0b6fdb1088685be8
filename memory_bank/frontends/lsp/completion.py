"""Answers to textDocument/completion."""

from __future__ import annotations

from lsprotocol.types import (
    CompletionItem,
    CompletionItemKind,
    CompletionList,
    CompletionParams,
    TextEdit,
)

from memory_bank.actions.editor.completion import Choice, choices
from memory_bank.frontends.fencing import one_line
from memory_bank.frontends.lsp.asked import Asked

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


def complete(asked: Asked, params: CompletionParams) -> CompletionList:
    """Return the choices at the cursor of a note, the best first."""
    if not asked.path:
        return CompletionList(is_incomplete=False, items=[])
    found = choices(asked.texts, asked.path, asked.text, asked.offset(params.position))
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
