"""Problems of notes as diagnostics."""

from __future__ import annotations

from lsprotocol.types import Diagnostic, DiagnosticSeverity

from memory_bank.actions.editor import problems
from memory_bank.frontends.fencing import one_line
from memory_bank.frontends.lsp.asked import Asked
from memory_bank.frontends.lsp.banks import OpenBank
from memory_bank.frontends.lsp.positions import positions

SOURCE = "memory-bank"
_SEVERITIES = {
    "error": DiagnosticSeverity.Error,
    "warning": DiagnosticSeverity.Warning,
    "info": DiagnosticSeverity.Information,
}


def of_note(asked: Asked) -> list[Diagnostic]:
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
