"""Compact text of answers about changes of notes and the health of a bank, for agents."""

from __future__ import annotations

from collections.abc import Iterator

from memory_bank.base.rendering import count
from memory_bank.base.text import Quotes, one_line
from memory_bank.memory.told import lines_of
from memory_bank.notes.compare.note_change import (
    NoteChange,
    SectionChange,
)
from memory_bank.review.records import BankHealth
from memory_bank.review.report import Review

_FINDINGS = 40

_NOTES = 40
"""Number of findings and of notes that are shown."""

_CLAIMS = 10
"""Number of claims of a note that are shown."""

_LONGEST = 300
"""Length beyond which a claim is cut."""


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
        f"{'new' if one.new else 'known'} {one.severity} {one.path}:{one.line} {one_line(one.text)}"
        for one in found.findings[:_FINDINGS]
    ]
    if len(found.findings) > _FINDINGS:
        lines.append(f"and {len(found.findings) - _FINDINGS} more findings")
    for change in found.changes[:_NOTES]:
        lines += _note(change)
    if len(found.changes) > _NOTES:
        lines.append(f"and {len(found.changes) - _NOTES} more notes")
    notices = quotes.remarks(found.notices)
    if not lines:
        return "\n".join([head, *notices])
    return quotes.answer(head, quotes.quote("\n".join(lines)), *notices)


def _note(change: NoteChange) -> Iterator[str]:
    former = f" (was {one_line(change.old_path)})" if change.old_path else ""
    yield f"{change.kind} {one_line(change.path)}{former}"
    for key in change.front_matter:
        yield one_line(f"  {key.key}: {key.before or ''} -> {key.after or ''}")
    left = _CLAIMS
    for section in change.sections:
        if left > 0:
            kind = f" ({section.kind})" if section.kind in {"renamed", "moved"} else ""
            yield f"  # {one_line(section.title)}{kind}"
        yield from _claims(section, left)
        left -= len(section.claims)
    if left < 0:
        yield f"  and {-left} more claims"


def _claims(section: SectionChange, most: int) -> Iterator[str]:
    for claim in section.claims[: max(most, 0)]:
        text = one_line(" ".join("".join(span.marked for span in claim.spans).split()))
        yield f"  {claim.line}: {text if len(text) <= _LONGEST else f'{text[:_LONGEST]}…'}"
