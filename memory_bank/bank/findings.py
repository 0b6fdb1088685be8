"""A problem that a lint rule found, with its place and its fix."""

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
