"""What is known of the citations of code in notes: which are stale, since when, and by what."""

from __future__ import annotations

from typing import Literal, get_args

from memory_bank.base import NamedTuple
from memory_bank.base.documents import PathProblem
from memory_bank.base.rendering import count
from memory_bank.code.changes import State

STALE: tuple[State, ...] = ("gone", "changed")
"""The states of a stale citation, the most severe first."""

TOUCHED: State = "touched"
"""The state of a citation of code that changed, though not what the note names in it."""

MOVED: tuple[State, ...] = ("renamed", "moved")
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
    state: State
    """`unknown` if the code did not have the target when the note was written, nor has it now;
    `touched` if a file or symbol changed, but not what the note names in it."""
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
