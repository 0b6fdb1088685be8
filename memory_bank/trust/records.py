"""What the verbs of trust answer, and what a note says of when it was confirmed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from time import time
from typing import Any, Literal, get_args

from memory_bank.base import NamedTuple, in_json
from memory_bank.base.dates import seconds_to_iso
from memory_bank.base.documents import PathProblem
from memory_bank.base.rendering import count
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


@in_json(
    "trust", "commit", "author", "mail", "agent", "date", "age_days", "subject", "pull_request",
    "reviewed", "reviewers",
)  # fmt: skip
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


STALE = ("gone", "changed")
"""The states of a stale citation, the most severe first."""

TOUCHED: Literal["touched"] = "touched"
"""The state of a citation of code that changed, though not what the note names in it."""

MOVED = ("renamed", "moved")
"""The states of a citation whose code is as it was in another place, or under another name."""

Group = Literal["gone", "changed symbol", "changed file", "moved", "touched", "other"]

GROUPS: tuple[Group, ...] = get_args(Group)
"""From those that most likely make a note wrong to those that do not."""

UNCOMMITTED = "uncommitted"
"""The id of changes that are not committed."""


class StaleCommit(NamedTuple):
    """A commit that changed cited code."""

    id: str
    """UNCOMMITTED for changes of the work tree."""
    date: str
    author: str
    subject: str


class Citation(NamedTuple):
    """A citation of code in a note, and whether the code is as it was."""

    path: str
    """The note's path in the bank."""
    line: int
    """1-based; 1 for one in the front matter."""
    target: str
    """As written."""
    kind: Literal["file", "symbol"]
    state: str
    """A `State` of `code.changes`; `unknown` if the code did not have the target when the note was
    written, nor has it now; `touched` if a file or symbol changed, but not what the note names."""
    since: str
    """The commit with which the code is compared; empty for a note that is not committed."""
    since_date: str
    commits: tuple[StaleCommit, ...] = ()
    """The commits that changed it since then, the newest first."""
    fix: str | None = None
    """The target to write instead, if it was moved or renamed."""
    remark: str = ""
    """What is not certain."""
    names: tuple[str, ...] = ()
    """Of changed code: the names and numbers in the note whose code is another now."""

    @property
    def stale(self) -> bool:
        """Tell whether the note should be confirmed, edited or archived."""
        return self.state in STALE

    @property
    def moved(self) -> bool:
        """Tell whether only the target should be written anew."""
        return self.state in MOVED

    @property
    def group(self) -> Group:
        """Return what is known of it."""
        if self.state == TOUCHED:
            return "touched"
        if self.state in {"fresh", "unknown"}:
            return "other"
        if self.moved:
            return "moved"
        if self.state == "gone":
            return "gone"
        return "changed file" if self.kind == "file" else "changed symbol"


class StaleReport(NamedTuple):
    """The citations of code in the notes of a bank."""

    citations: tuple[Citation, ...]
    """By note and line; with a range, only those of what it changes."""
    base: str
    """The commit where the range starts; empty without one."""
    head: str
    """The commit whose code is compared."""
    worktree: bool
    """Whether uncommitted changes of code count."""
    notices: tuple[str, ...] = ()
    overdue: tuple[PathProblem, ...] = ()
    """Notes that are past their review date, whatever they cite; none with a range."""

    @property
    def stale(self) -> tuple[Citation, ...]:
        """The stale ones."""
        return tuple(citation for citation in self.citations if citation.stale)

    @property
    def by_group(self) -> dict[Group, list[Citation]]:
        """All of them by group, in the order of GROUPS; groups without any are left out."""
        groups = {
            group: [citation for citation in self.citations if citation.group == group]
            for group in GROUPS
        }
        return {group: citations for group, citations in groups.items() if citations}

    @property
    def elsewhere(self) -> str:
        """What is to say of cited files that changed, though not in what the notes name; or ""."""
        files = {
            citation.target.partition("#")[0]
            for citation in self.citations
            if citation.state == TOUCHED
        }
        return f"{count(len(files), 'cited file')} changed elsewhere" if files else ""

    @property
    def listed(self) -> tuple[Citation, ...]:
        """The stale ones, and those whose target moved."""
        return tuple(citation for citation in self.citations if citation.stale or citation.moved)


def yield_overdue_notes(manifest: Manifest) -> Iterator[PathProblem]:
    """Yield the notes that are past their review date and not archived."""
    now = time()
    for path, extra in document_rows.yield_data(manifest, "extra"):
        if "stale_after" in extra and (reason := past_review(extra, now)):
            yield PathProblem(path, reason)
