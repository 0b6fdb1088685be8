"""The commits of a repository and the files that each changed, under their newest names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from memory_bank.filenames import is_utf8
from memory_bank.repo import git_log


class CommitRow(NamedTuple):
    """A commit as it is kept."""

    when: int
    """Seconds since the epoch."""
    size: int
    """Number of files that it changed."""
    changes: bytes | None
    """Text for `git_log.parsed`; None if they are not needed."""
    subject: str = ""
    """The first line of its message."""


class Commit(NamedTuple):
    """A commit that counts."""

    age: int
    """Number of newer commits, also of those that don't count."""
    when: int
    """Seconds since the epoch."""
    size: int
    """Number of files that it changed, also of those that have no name here."""
    files: tuple[str, ...]
    """Newest names of the files that it changed, below the work tree."""
    subject: str = ""
    """The first line of its message."""


class History:
    """The commits before a HEAD that count, the newest first."""

    def __init__(
        self,
        commits: Sequence[Commit] = (),
        *,
        count: int = 0,
        renamed: Mapping[str, str] | None = None,
        notes: tuple[str, ...] = (),
    ) -> None:
        self.commits = tuple(commits)
        self.count = count
        """Number of all commits, without merges."""
        self.renamed: Mapping[str, str] = renamed or {}
        """The newest names of files by their former ones, which other files may have now."""
        self.notes = notes
        """What is left out, and why."""
        self._of: dict[str, list[Commit]] = defaultdict(list)
        for commit in self.commits:
            for file in commit.files:
                self._of[file].append(commit)

    def of(self, path: str) -> Sequence[Commit]:
        """Return the commits of a file, the newest first."""
        return self._of.get(path, ())


def history_of(rows: Sequence[CommitRow], max_files: int, notes: tuple[str, ...] = ()) -> History:
    """Return the history of commits, newest first; more than `max_files` files don't count.

    A path in a commit means the file that has its name now: the renames of newer commits apply,
    those of larger commits too. A path whose former file was replaced by a renamed one keeps its
    own name for older commits. Names that are not UTF-8 are left out.
    """
    names: dict[str, str] = {}
    renamed: dict[str, str] = {}
    commits = []
    for age, row in enumerate(rows):
        if row.changes is None:
            continue
        changes = list(git_log.parsed(row.changes.decode("utf-8", "surrogateescape")))
        if 0 < row.size <= max_files:
            files = dict.fromkeys(names.get(one.path, one.path) for one in changes)
            text = tuple(filter(is_utf8, files))
            commits.append(Commit(age, row.when, row.size, text, row.subject))
        renames = [one for one in changes if one.status == "R"]
        found = {one.old: names.get(one.path, one.path) for one in renames}
        for one in renames:
            names.pop(one.path, None)
        names |= found
        renamed = found | renamed
    return History(commits, count=len(rows), renamed=renamed, notes=notes)
