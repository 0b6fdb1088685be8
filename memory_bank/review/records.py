"""The answers about a bank: its health, an evaluation, and what git merged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from memory_bank.bank.findings import Finding, Severity
from memory_bank.search.hit_records import Reason


@dataclass(frozen=True, slots=True)
class Score:
    """The measures of one mode over all queries."""

    mode: str
    figures: Mapping[str, float]
    """Mean of each measure, 0 to 1."""
    seconds: float
    """For all queries together."""
    fallback_reason: str | None = None
    """Why some query had lexical results only, although the mode is another."""


@dataclass(frozen=True, slots=True)
class Above:
    """A note that is not relevant and ranked above a missed one."""

    path: str
    line: int
    heading: str
    relevance_score: float
    reasons: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class Miss:
    """A relevant note that is not among the first results."""

    mode: str
    text: str
    place: str
    """The place of the query, as `file:line`."""
    path: str
    """The note."""
    rank: int | None
    """Its rank, from 1; None if it was not found."""
    reasons: tuple[Reason, ...]
    """Why it was found; empty if it was not."""
    above: tuple[Above, ...]


@dataclass(frozen=True, slots=True)
class Shortfall:
    """A measure below its minimum."""

    mode: str
    measure: str
    value: float
    least: float


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The result of an evaluation."""

    queries: int
    to_find: int
    """Relevant notes, over all queries."""
    within: int
    scores: tuple[Score, ...]
    shortfalls: tuple[Shortfall, ...]
    misses: tuple[Miss, ...]


@dataclass(frozen=True, slots=True)
class CodeHealth:
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
    polling: str | None
    """Why changes can't be watched, so that all files are polled."""
    git: str | None
    """Why git can't provide dates, if there is a repository."""
    hooks: str | None
    """What failed lately in hooks of agents' programs."""
    former_sessions: str | None
    """Where sessions are that this folder had under another id."""
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
        told = (self.left_alone, self.polling, self.git, self.hooks, self.former_sessions)
        code = self.code
        of_code = code and (code.unindexed or code.faults or code.problem or code.history)
        return self.healthy and not self.findings and not any(told) and not of_code

    def __post_init__(self) -> None:
        """Set `healthy`."""
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


class Fixed(NamedTuple):
    """What was fixed, and what could not be."""

    fixed: tuple[Finding, ...]
    failed: tuple[str, ...]
    """Why changes were refused, each with the note's path."""
