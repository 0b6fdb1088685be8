"""What the verbs of trust answer."""

from __future__ import annotations

from typing import NamedTuple

START = "(start)"
"""What views call the section above the first heading."""


class TextSource(NamedTuple):
    """Where a text comes from, as answers show it."""

    trust: str
    commit: str
    author: str
    mail: str
    agent: str
    date: str
    age_days: int | None
    subject: str
    pull_request: int | None
    reviewed: bool
    reviewers: tuple[str, ...]


class LoggedCommit(NamedTuple):
    """A commit that changed a note."""

    source: TextSource
    change: str
    """added, changed, removed, renamed or merged."""
    path: str
    """The note's path after it."""
    old_path: str | None
    sections: tuple[str, ...] | None
    """Heading paths of the sections that it changed; None if they were not compared."""


class NoteLog(NamedTuple):
    """The commits that changed a note, the newest first."""

    path: str
    trust: str
    uncommitted: bool
    uncommitted_agent: str
    """The agents that wrote what is not committed, if they are known."""
    commits: tuple[LoggedCommit, ...]
    result_count: int
    limits: tuple[str, ...]


class BlamedSection(NamedTuple):
    """A section and the origin of its least trusted line; of several, the newest."""

    heading: str
    line: int
    end_line: int
    source: TextSource
    commits: int
    """Number of commits that its lines come from."""


class BlamedLine(NamedTuple):
    """A line and its origin."""

    line: int
    text: str
    source: TextSource


class NoteBlame(NamedTuple):
    """The origins of a note's sections, and of its lines if asked for."""

    path: str
    trust: str
    sections: tuple[BlamedSection, ...]
    lines: tuple[BlamedLine, ...] | None
    limits: tuple[str, ...]
