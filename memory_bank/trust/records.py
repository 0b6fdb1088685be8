"""What the verbs of trust answer, and what a note says of when it was confirmed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from time import time
from typing import Any

from memory_bank.base import NamedTuple
from memory_bank.base.dates import seconds_to_iso
from memory_bank.base.documents import PathProblem
from memory_bank.notes.okf import past_review
from memory_bank.search.manifest import document_rows
from memory_bank.search.manifest.manifest import Manifest

_DAY = 86400

VERIFIED = "verified_commit"
"""Key of the commit at which a note was confirmed."""


def verified_commit(data: Mapping[str, Any]) -> str:
    """Return the commit at which a note was confirmed, from its data; empty if it never was."""
    extra = data.get("extra") or {}
    return str(extra.get(VERIFIED) or "").strip()


class LineOrigin(NamedTuple):
    """Where a text or lines of it come from."""

    trust: str
    commit: str = ""
    """Empty for lines that are not committed."""
    author: str = ""
    mail: str = ""
    agent: str = ""
    """The agent that wrote it, or had a part in it."""
    time: int = 0
    """Seconds since the epoch; 0 if it is not committed."""
    subject: str = ""
    pull_request: int | None = None
    reviewed: bool = False
    reviewers: tuple[str, ...] = ()

    @staticmethod
    def in_json() -> tuple[str, ...]:
        """Return the fields that answers have, in their order."""
        return (
            "trust", "commit", "author", "mail", "agent", "date", "age_days", "subject",
            "pull_request", "reviewed", "reviewers",
        )  # fmt: skip

    @property
    def date(self) -> str:
        """When it was committed; empty if it is not."""
        return seconds_to_iso(self.time) if self.time else ""

    @property
    def age_days(self) -> int | None:
        """Days since then."""
        return max(0, int(time() - self.time)) // _DAY if self.time else None


class LoggedCommit(NamedTuple):
    """A commit that changed a note."""

    source: LineOrigin
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
    source: LineOrigin
    commits: int
    """Number of commits that its lines come from."""


class BlamedLine(NamedTuple):
    """A line and its origin."""

    line: int
    text: str
    source: LineOrigin


class NoteBlame(NamedTuple):
    """The origins of a note's sections, and of its lines if asked for."""

    path: str
    trust: str
    sections: tuple[BlamedSection, ...]
    lines: tuple[BlamedLine, ...] | None
    limits: tuple[str, ...]


def yield_overdue_notes(manifest: Manifest) -> Iterator[PathProblem]:
    """Yield the notes that are past their review date and not archived."""
    now = time()
    for path, extra in document_rows.yield_data(manifest, "extra"):
        if "stale_after" in extra and (reason := past_review(extra, now)):
            yield PathProblem(path, reason)
