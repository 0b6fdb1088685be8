"""Completions and diagnostics in the form of the protocol."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from lsprotocol.types import (
    CompletionItem,
    CompletionItemKind,
    CompletionList,
    CompletionParams,
    Diagnostic,
    DiagnosticSeverity,
    TextEdit,
)

from memory_bank.base.text import one_line
from memory_bank.frontends.lsp.banks import Codebases, OpenBank
from memory_bank.frontends.lsp.buffers import positions
from memory_bank.frontends.lsp.editor import problems
from memory_bank.frontends.lsp.editor.completion import Completion, choices
from memory_bank.frontends.lsp.request import FileRequest

if TYPE_CHECKING:
    from memory_bank.code.codebase import Codebase


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


def complete(asked: FileRequest, params: CompletionParams, codebases: Codebases) -> CompletionList:
    """Return the choices at the cursor of a note, the best first."""
    if not asked.path:
        return CompletionList(is_incomplete=False, items=[])
    code_of = partial(_code_around, asked, codebases)
    offset = asked.offset(params.position)
    found = choices(asked.texts, asked.path, asked.text, offset, code_of)
    items = [_item(asked, number, choice) for number, choice in enumerate(found.found)]
    return CompletionList(is_incomplete=not found.complete, items=items)


def _item(asked: FileRequest, number: int, choice: Completion) -> CompletionItem:
    return CompletionItem(
        label=one_line(choice.label),
        kind=_KINDS[choice.kind],
        detail=one_line(choice.detail) or None,
        filter_text=choice.typed,
        sort_text=f"{number:06}",
        text_edit=TextEdit(asked.range(choice.start, choice.end), choice.text),
    )


def _code_around(asked: FileRequest, codebases: Codebases) -> Codebase | None:
    """Return the code around the bank, which is read in its thread; None without any."""
    shared = codebases.of(asked.bank.layout.root)
    return shared.asked() if shared is not None and shared.enabled else None


SOURCE = "memory-bank"

_SEVERITIES = {
    "error": DiagnosticSeverity.Error,
    "warning": DiagnosticSeverity.Warning,
    "info": DiagnosticSeverity.Information,
}


def of_note(asked: FileRequest) -> list[Diagnostic]:
    """Return the problems of a note's text in the editor, and of its file."""
    if not asked.path:
        return []
    saved = asked.opened.findings.get(asked.path, ())
    lines = positions(asked.text, asked.editor.encoding)
    return [
        Diagnostic(
            range=lines.range(one.start, one.end),
            message=one_line(one.message),
            severity=_SEVERITIES[one.severity],
            code=one.rule,
            source=SOURCE,
        )
        for one in problems.problems(asked.texts, asked.path, saved)
    ]


def find(opened: OpenBank) -> None:
    """Run all rules on a bank's files; it may take a while, and blocks no request."""
    with opened.shared.another(embeds=False) as bank:
        opened.findings = problems.all_findings(bank)
