"""Compact text of answers about changes of notes and the health of a bank, for agents."""

from __future__ import annotations

from collections.abc import Sequence

from memory_bank.base.rendering import count
from memory_bank.base.screen import Piece, plain
from memory_bank.base.text import Quotes, one_line
from memory_bank.memory.told import lines_of
from memory_bank.review.records import BankHealth, Review
from memory_bank.review.shown import finding_line, note_lines

_FINDINGS = 40

_NOTES = 40
"""Number of findings and of notes that are shown."""

_LONGEST = 600
"""Characters of a line of a review that are shown."""


def health(found: BankHealth, quotes: Quotes) -> str:
    """Show the problems of a bank; text of notes is quoted."""
    lines = [
        f"{one.rule}: {one.path}:{one.line}: {one.message}"
        + (f" (fix: {one.fix})" if one.fix else "")
        for one in found.findings
    ]
    head = f"{count(found.notes, 'note')}, {count(found.passages, 'passage')}."
    if found.waiting:
        head += f" {count(found.waiting, 'passage')} without a vector."
    if found.clear:
        head += " All is well."
    wrong = quotes.quote(lines_of("", lines)) if lines else ""
    polling = f"Polling for changes: {quotes.inside(found.polling)}" if found.polling else ""
    git = f"git: {quotes.inside(one_line(found.git))}" if found.git else ""
    hooks = f"Hooks: {quotes.inside(one_line(found.hooks))}" if found.hooks else ""
    index = f"Index: {found.left_alone}." if found.left_alone else ""
    problem = quotes.remarks(problem=found.problem)
    return quotes.answer(head, wrong, *problem, polling, git, hooks, index)


def review(found: Review, quotes: Quotes) -> str:
    """Show the findings of a review, then the changes of each note."""
    head = (
        f"{found.changed}; {found.tokens.before:,} to {found.tokens.after:,} tokens."
        " Claims: [-removed-] {+added+}."
    )
    lines = [
        f"{'' if one.new else 'known '}{_cut(finding_line(one))}"
        for one in found.findings[:_FINDINGS]
    ]
    if len(found.findings) > _FINDINGS:
        lines.append(f"and {len(found.findings) - _FINDINGS} more findings")
    for change in found.changes[:_NOTES]:
        lines += (f"{' ' * (indent - 2)}{_cut(line)}" for indent, line in note_lines(change))
    if len(found.changes) > _NOTES:
        lines.append(f"and {len(found.changes) - _NOTES} more notes")
    notices = quotes.remarks(found.notices)
    if not lines:
        return "\n".join([head, *notices])
    return quotes.answer(head, quotes.quote("\n".join(lines)), *notices)


def _cut(line: Sequence[Piece]) -> str:
    text = plain(line)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
