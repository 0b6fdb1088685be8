"""The answers about a bank: a review, its health, and what git merged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from memory_bank.bank.records import Finding, ReviewFinding, Severity
from memory_bank.base import NamedTuple, with_schema_version
from memory_bank.base.rendering import count
from memory_bank.notes.note_change import NoteChange


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
    with_findings.name: with_findings
    for with_findings in (
        RuleWithFindings(
            "broken-backlink", "warning", "this change breaks a link of an unchanged note"
        ),
        RuleWithFindings("ghost-made", "info", "a new link leads to nothing"),
        RuleWithFindings(
            "not-checked",
            "error",
            "a change is beyond the limits of a review: no rule has seen the note",
        ),
        RuleWithFindings(
            "not-compared", "warning", "a note is too large to compare, or can't be read"
        ),
        RuleWithFindings("orphan-made", "info", "no note links to a note any longer"),
        RuleWithFindings("similar-note", "warning", "a note is similar to another one"),
        RuleWithFindings("stale-citation", "warning", "a note cites code that this change touches"),
        RuleWithFindings(
            "superseded-neighbour", "info", "a linked or similar note is superseded or archived"
        ),
    )
}
"""The rules of the review itself, by name."""

_BREAKS = frozenset({"broken-backlink", "not-checked"})
"""Rules by which something breaks that was whole, besides all errors."""

HEADINGS: Mapping[str, str] = {
    "stale-citation": "Notes that cite changed code",
    "similar-note": "Similar notes",
    "superseded-neighbour": "Superseded or archived neighbours",
}
"""Headings of the rules whose findings ask to look at a note, though it may be right."""


class TokenChange(NamedTuple):
    """The estimated tokens of all changed notes together."""

    before: int
    after: int


@with_schema_version("2.0")
class Review(NamedTuple):
    """What a change does to the notes of a bank."""

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
        return tuple(finding for finding in self.findings if finding.new)

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
        broken = {
            ignore_lines(finding)
            for finding in self.new
            if finding.severity == "error" or finding.rule in _BREAKS
        }
        check = {
            finding.path
            for finding in self.new
            if finding.severity != "info" or finding.rule in HEADINGS
        }
        text = count(len(broken), "problem") if broken else "Nothing breaks"
        return f"{text}, {count(len(check), 'note')} to check" if check else text

    @property
    def to_check(self) -> dict[str, list[ReviewFinding]]:
        """The findings of rules with a heading, by that."""
        groups = {
            heading: [finding for finding in self.findings if HEADINGS.get(finding.rule) == heading]
            for heading in HEADINGS.values()
        }
        return {heading: findings for heading, findings in groups.items() if findings}


def ignore_lines(finding: ReviewFinding) -> tuple[str, str, str, str | None]:
    """Return what findings have in common that differ in their lines only."""
    return finding.path, finding.rule, finding.message, finding.fix


class CodeHealth(NamedTuple):
    """The state of what is derived from the project's code."""

    files: int
    symbols: int
    tests: int
    unindexed: Mapping[str, str]
    """Why files of code are not indexed, by path."""
    faults: Mapping[str, str]
    """Why files of code were parsed only in part, by path."""
    problem: str | None
    history: tuple[str, ...]
    """What is left out of the git history, and why: shallow and partial clones, bounds."""


@dataclass(frozen=True, slots=True)
class BankHealth:
    """The state of a bank."""

    healthy: bool = field(init=False)
    """Whether there is nothing to repair: no finding above `info`, and no problem of the index."""
    bank: str
    notes: int
    passages: int
    findings: tuple[Finding, ...]
    """The most severe first."""
    repaired: tuple[str, ...]
    """Interrupted or damaged parts that this check has repaired."""
    waiting: int
    """Passages without a vector."""
    problem: str | None
    index: str
    """The folder of the index: in the bank, or in the user's cache."""
    left_alone: str | None
    """Why the index is not in the bank: an index of unknown origin is there already."""
    background: str | None
    """Whether a process in the background works on the index."""
    polling: str | None
    """Why changes can't be watched, so that all files are polled."""
    git: str | None
    """Why git can't provide dates, if there is a repository."""
    hooks: str | None
    """What failed lately in hooks of agents' programs."""
    former_sessions: str | None
    """Where sessions are that this folder had under another id."""
    language: str | None
    """Which embedder serves a bank better whose notes are mostly in another language."""
    embedder: str
    max_note_bytes: int
    code: CodeHealth | None = None
    """None while nobody has asked for the code of this work tree."""
    no_code: str | None = None
    """Why no code can be read: there is no repository, or it has no work tree."""

    @property
    def worst(self) -> Severity | None:
        """The highest severity of a finding; None without findings."""
        return self.findings[0].severity if self.findings else None

    @property
    def clear(self) -> bool:
        """Whether nothing is listed: no finding of any severity, and no remark."""
        remarks = (self.left_alone, self.polling, self.git, self.hooks, self.former_sessions)
        code = self.code
        of_code = code and (code.unindexed or code.faults or code.problem or code.history)
        return self.healthy and not self.findings and not any(remarks) and not of_code

    def __post_init__(self) -> None:
        wrong = self.waiting or self.problem or self.worst not in {None, "info"}
        object.__setattr__(self, "healthy", not wrong)


class Resolved(NamedTuple):
    """One note with a conflict, and what became of it."""

    path: str
    outcome: str
    """`merged`, `two_notes` or `left`."""
    new_path: str = ""
    """The note that theirs became."""
    conflicts: int = 0
    reason: str = ""
    """Why it is left."""


class GitSetting(NamedTuple):
    """A line of attributes or a setting that git needs."""

    name: str
    """A key of git's settings, or the file of attributes."""
    value: str
    """Its value; empty if it is not there."""
    is_set: bool
    problem: str = ""
    """What is wrong with it."""


class GitSetup(NamedTuple):
    """The attributes and settings that git has for the notes of a bank."""

    folder: str
    """The folder of the notes."""
    is_set: bool
    parts: tuple[GitSetting, ...]
    written: tuple[str, ...] = ()
    """What was changed: names of the parts."""
