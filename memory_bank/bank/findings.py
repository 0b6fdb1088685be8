"""Problems that a lint rule found, with place and fix; sentences that may repeat or contradict."""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

Severity = Literal["error", "warning", "info"]

SEVERITIES: tuple[Severity, ...] = get_args(Severity)
"""The most severe first."""


class Edit(NamedTuple):
    """A replacement in the text of a finding's file."""

    start: int
    """Offset in characters; the text has no byte order mark."""
    old: str
    new: str


class Finding(NamedTuple):
    """A problem with its rule and severity; the other fields are those of `Place`."""

    rule: str
    severity: Severity
    path: str
    line: int
    message: str
    fix: str | None = None
    column: int | None = None
    end_line: int | None = None
    end_column: int | None = None
    words: str | None = None
    hash: str | None = None
    edits: tuple[Edit, ...] | None = None
    merge_into: str | None = None


class Difference(NamedTuple):
    """What two sentences say differently."""

    kind: str
    """`number`, `negation`, `opposite` or `name`."""
    new: str
    """The words of the new sentence; empty if only the old one denies."""
    old: str
    weight: float = 1.0
    """How sure it is."""


class SameSubject(NamedTuple):
    """A new sentence, and an older one of another note that says the same, or something else."""

    kind: Literal["repeats", "contradicts"]
    line: int
    """Of the new sentence."""
    text: str
    path: str
    """The other note."""
    title: str
    other_line: int
    other: str
    """Its sentence."""
    differs: tuple[Difference, ...]
    """Why they may contradict each other."""
    score: float
