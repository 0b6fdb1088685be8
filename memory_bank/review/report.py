"""The immutable records of a review."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from memory_bank.bank.findings import ReviewFinding, SameSubject, Severity
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


@dataclass(frozen=True, slots=True)
class InNote:
    """What a change does to a note: its path in the bank, and its file's below the work tree."""

    path: str
    file: str


@dataclass(frozen=True, slots=True)
class InLine(InNote):
    """What it does to a line of one."""

    line: int


class NewGhost(NamedTuple):
    """A link's target that is no note at HEAD, and was not linked at BASE."""

    target: str
    """The ghost's name, without `ghost:`."""
    path: str
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class BrokenBacklink(InLine):
    """A link of an unchanged note that this change breaks."""

    target: str
    """As written, with `#heading` or `^block`."""
    note: str
    """The note that it led to."""
    problem: str
    """What is wrong with it now."""
    fix: str | None
    """The target to write instead, if known."""


@dataclass(frozen=True, slots=True)
class Orphan(InNote):
    """A note that had links from others at BASE and has none at HEAD."""

    lost: tuple[str, ...]
    """The notes that linked to it."""


@dataclass(frozen=True, slots=True)
class SimilarNote(InNote):
    """A note at BASE whose text is nearly that of an added or changed note."""

    other: str
    """The similar note at BASE."""
    likeness: float
    """Share of words in common, from 0.8 to 1; 1 is the same words."""
    other_file: str


@dataclass(frozen=True, slots=True)
class SaidElsewhere(InNote):
    """A new sentence that may repeat or contradict one of another note."""

    remark: SameSubject
    """Both sentences, with their lines in the files, and what differs."""
    other_file: str


@dataclass(frozen=True, slots=True)
class WeakNeighbour(InNote):
    """A linked or similar note that is superseded or archived."""

    other: str
    """Its neighbour."""
    state: Literal["superseded", "archived"]
    by: tuple[str, ...]
    """The notes that supersede the neighbour."""
    how: Literal["linked", "similar"]
    line: int
    """The line of the link; 1 for a similar note."""
    other_file: str
    by_files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StaleCitation(InLine):
    """A note's citation of code that this change touches: confirm, edit or archive the note."""

    target: str
    """The cited file or symbol."""
    state: str
    """`changed`, `moved`, `renamed` or `gone`."""
    commits: tuple[str, ...]
    """The commits that did it, the newest first."""
    fix: str | None
    """The target to write instead, if it was moved or renamed."""


class RankFall(NamedTuple):
    """A note that a golden query finds later than before, or no longer."""

    query: str
    path: str
    rank_before: int
    """1-based."""
    rank_after: int | None
    """None if it is no longer found."""
    file: str


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
    """Of changed notes and of those that link to them: new ones first, the most severe first. Those
    of the review itself repeat the lists below."""
    rules: tuple[RuleWithFindings, ...]
    """The rules that have findings, by name."""
    ghosts_made: tuple[NewGhost, ...]
    broken_backlinks: tuple[BrokenBacklink, ...]
    orphans_made: tuple[Orphan, ...]
    similar: tuple[SimilarNote, ...]
    said_elsewhere: tuple[SaidElsewhere, ...]
    neighbours: tuple[WeakNeighbour, ...]
    stale: tuple[StaleCitation, ...]
    queries: tuple[RankFall, ...]
    tokens: TokenChange
    notices: tuple[str, ...]
    """What was left out, and why."""

    def worst(self) -> Severity | None:
        """Return the severity of the most severe new finding; None if there is none."""
        new = {finding.severity for finding in self.findings if finding.new}
        order: tuple[Severity, ...] = ("error", "warning", "info")
        return next((severity for severity in order if severity in new), None)
