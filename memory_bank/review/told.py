"""Compact text of answers about changes of notes and the health of a bank, for agents."""

from __future__ import annotations

from collections.abc import Sequence

from memory_bank.base.rendering import count
from memory_bank.base.screen import Piece, plain
from memory_bank.base.text import Quotes, one_line
from memory_bank.base.view import first_lines
from memory_bank.review.records import BankHealth, Review
from memory_bank.review.shown import finding_line, note_lines

_FINDINGS = 40

_NOTES = 40
"""Number of findings and of notes that are shown."""

_LONGEST = 600
"""Characters of a line of a review that are shown."""


def health(found_health: BankHealth, quotes: Quotes) -> str:
    """Show the problems of a bank; text of notes is quoted."""
    lines = [
        f"{finding.rule}: {finding.path}:{finding.line}: {finding.message}"
        + (f" (fix: {finding.fix})" if finding.fix else "")
        for finding in found_health.findings
    ]
    head = f"{count(found_health.notes, 'note')}, {count(found_health.passages, 'passage')}."
    if found_health.waiting:
        head += f" {count(found_health.waiting, 'passage')} without a vector."
    if found_health.clear:
        head += " All is well."
    wrong = quotes.quote(first_lines(lines)) if lines else ""
    polling = (
        f"Polling for changes: {quotes.inside(found_health.polling)}"
        if found_health.polling
        else ""
    )
    git = f"git: {quotes.inside(one_line(found_health.git))}" if found_health.git else ""
    hooks = f"Hooks: {quotes.inside(one_line(found_health.hooks))}" if found_health.hooks else ""
    index = f"Index: {found_health.left_alone}." if found_health.left_alone else ""
    problem = quotes.remarks(problem=found_health.problem)
    return quotes.answer(head, wrong, *problem, polling, git, hooks, index)


def review(review: Review, quotes: Quotes) -> str:
    """Show the findings of a review, then the changes of each note."""
    head = (
        f"{review.changed}; {review.tokens.before:,} to {review.tokens.after:,} tokens."
        " Claims: [-removed-] {+added+}."
    )
    lines = [
        f"{'' if finding.new else 'known '}{_cut(finding_line(finding))}"
        for finding in review.findings[:_FINDINGS]
    ]
    if len(review.findings) > _FINDINGS:
        lines.append(f"and {len(review.findings) - _FINDINGS} more findings")
    for change in review.changes[:_NOTES]:
        lines += (f"{' ' * (indent - 2)}{_cut(line)}" for indent, line in note_lines(change))
    if len(review.changes) > _NOTES:
        lines.append(f"and {len(review.changes) - _NOTES} more notes")
    notices = quotes.remarks(review.notices)
    if not lines:
        return "\n".join([head, *notices])
    return quotes.answer(head, quotes.quote("\n".join(lines)), *notices)


def _cut(line: Sequence[Piece]) -> str:
    text = plain(line)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
