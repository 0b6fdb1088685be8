"""The immutable records of a review, and the rules of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from memory_bank.bank.findings import ReviewFinding, Severity
from memory_bank.base.rendering import count
from memory_bank.notes.compare.note_change import NoteChange


class Side(NamedTuple):
    """One of the two states that are compared."""

    name: str
    """As given: a revision, `staged` or `worktree`."""
    commit: str | None
    """The full id of its commit; None for the index of git and the work tree."""


class RuleWithFindings(NamedTuple):
    """A rule that has findings."""

    name: str
    severity: Severity
    summary: str


OWN: Mapping[str, RuleWithFindings] = {
    one.name: one
    for one in (
        RuleWithFindings(
            "broken-backlink", "warning", "this change breaks a link of an unchanged note"
        ),
        RuleWithFindings("ghost-made", "info", "a new link leads to nothing"),
        RuleWithFindings(
            "may-contradict", "warning", "a new sentence may contradict one of another note"
        ),
        RuleWithFindings("may-repeat", "info", "a new sentence may repeat one of another note"),
        RuleWithFindings(
            "not-checked",
            "error",
            "a change is beyond the limits of a review: no rule has seen the note",
        ),
        RuleWithFindings(
            "not-compared", "warning", "a note is too large to compare, or can't be read"
        ),
        RuleWithFindings("orphan-made", "info", "no note links to a note any longer"),
        RuleWithFindings("rank-fall", "warning", "a golden query finds a note later than before"),
        RuleWithFindings("similar-note", "warning", "a note is similar to another one"),
        RuleWithFindings("stale-citation", "warning", "a note cites code that this change touches"),
        RuleWithFindings(
            "superseded-neighbour", "info", "a linked or similar note is superseded or archived"
        ),
    )
}
"""The rules of the review itself, by name."""

_BREAKS = frozenset({"broken-backlink", "not-checked", "rank-fall"})
"""Rules by which something breaks that was whole, besides all errors."""

HEADINGS: Mapping[str, str] = {
    "stale-citation": "Notes that cite changed code",
    "may-contradict": "Said elsewhere",
    "may-repeat": "Said elsewhere",
    "similar-note": "Similar notes",
    "superseded-neighbour": "Superseded or archived neighbours",
    "rank-fall": "Golden queries that find a note later",
}
"""Headings of the rules whose findings ask to look at a note, though it may be right."""


class TokenChange(NamedTuple):
    """The estimated tokens of all changed notes together."""

    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Review:
    """What a change does to the notes of a bank."""

    schema_version: str
    base: Side
    head: Side
    prefix: str
    """The bank's folder below the work tree: `.memories/`, or empty."""
    changes: tuple[NoteChange, ...]
    """By path."""
    findings: tuple[ReviewFinding, ...]
    """Of changed notes and of those that link to them: new ones first, the most severe first."""
    rules: tuple[RuleWithFindings, ...]
    """The rules that have findings, by name."""
    tokens: TokenChange
    notices: tuple[str, ...]
    """What was left out, and why."""

    @property
    def new(self) -> tuple[ReviewFinding, ...]:
        """The new findings."""
        return tuple(one for one in self.findings if one.new)

    @property
    def worst(self) -> Severity | None:
        """The severity of the most severe new finding; None if there is none."""
        return self.new[0].severity if self.new else None

    @property
    def changed(self) -> str:
        """How many notes changed, by kind."""
        kinds = Counter(change.kind for change in self.changes)
        parts = ", ".join(f"{number} {kind}" for kind, number in sorted(kinds.items()))
        return f"{count(len(self.changes), 'note')} changed{f': {parts}' if parts else ''}"

    @property
    def verdict(self) -> str:
        """How many things break, and how many notes are to be checked."""
        if not self.changes and not self.findings:
            return "Nothing changed"
        broken = {same(one) for one in self.new if one.severity == "error" or one.rule in _BREAKS}
        check = {one.path for one in self.new if one.severity != "info" or one.rule in HEADINGS}
        said = count(len(broken), "problem") if broken else "Nothing breaks"
        return f"{said}, {count(len(check), 'note')} to check" if check else said

    @property
    def to_check(self) -> dict[str, list[ReviewFinding]]:
        """The findings of rules with a heading, by that."""
        found = {
            heading: [one for one in self.findings if HEADINGS.get(one.rule) == heading]
            for heading in HEADINGS.values()
        }
        return {heading: some for heading, some in found.items() if some}


def same(finding: ReviewFinding) -> tuple[str, str, str, str | None]:
    """Return what findings have in common that differ in their lines only."""
    return finding.path, finding.rule, finding.text, finding.fix
