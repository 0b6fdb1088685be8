"""Problems that a lint rule found, with place and fix."""

from __future__ import annotations

from typing import Literal, get_args

from memory_bank.base import NamedTuple

Severity = Literal["error", "warning", "info"]

SEVERITIES: tuple[Severity, ...] = get_args(Severity)
"""The most severe first."""


class Edit(NamedTuple):
    """A replacement in the text of a finding's file."""

    start: int
    """Offset in characters; the text has no byte order mark."""
    old: str
    new: str


class OtherNote(NamedTuple):
    """Another note that a finding is about."""

    path: str
    file: str
    """Its path below the work tree."""


class Finding(NamedTuple):
    """A problem that a rule found, with its place."""

    rule: str
    severity: Severity
    path: str
    """The file's path, relative to the bank."""
    line: int
    """1-based; 1 for the whole file."""
    message: str
    """The problem."""
    fix: str | None = None
    """How to fix it: the name to write instead, or what to do; None if unknown."""
    column: int | None = None
    """1-based, in characters; None for the whole line."""
    end_line: int | None = None
    end_column: int | None = None
    """The column after its last character."""
    words: str | None = None
    """The words that were found; untrusted."""
    hash: str | None = None
    """What the settings name to accept a secret."""
    edits: tuple[Edit, ...] | None = None
    """Changes of the file's text that fix it."""
    merge_into: str | None = None
    """The path of an older note with the same content; a merge into it fixes it."""
    file: str | None = None
    """In a review, as the next ones: the file's path below the work tree, with forward slashes."""
    new: bool | None = None
    """Whether it was not at BASE; only new findings decide the exit code."""
    other: OtherNote | None = None
    """The other note that it is about."""

    @staticmethod
    def in_json() -> tuple[str, ...]:
        """Return the fields that answers have, in their order."""
        return Finding._fields[:-3]


def order(finding: Finding) -> tuple[bool, int, str, str, int, int, str]:
    """Return the key by which findings are sorted: new ones first, the most severe first."""
    place = finding.path, finding.line, finding.column or 0
    return (
        finding.new is False,
        SEVERITIES.index(finding.severity),
        finding.rule,
        *place,
        finding.message,
    )


class ReviewFinding(Finding):
    """A finding of a rule, or of the review itself, at HEAD; a review edits nothing."""

    __slots__ = ()

    @staticmethod
    def in_json() -> tuple[str, ...]:
        """Return the fields that answers have, in their order."""
        return (
            "rule", "severity", "path", "file", "line", "message", "fix", "new", "column",
            "end_line", "end_column", "words", "other",
        )  # fmt: skip
