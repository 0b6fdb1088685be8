"""The commits that count for the code, with the newest names of the files that each changed."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from blake3 import blake3

from memory_bank.bank.note_files import open_history
from memory_bank.base import NamedTuple, lazy_pattern
from memory_bank.base.errors import Busy
from memory_bank.base.filenames import is_utf8
from memory_bank.git import repository
from memory_bank.git.commits import Commit, CommitOutline, CommitsAt, PathPair

MOST = 20_000
"""Number of commits, the newest, that are used."""

MOST_FILES = 50
"""Files of a commit beyond which it says nothing of what changes together."""

_SECONDS = 20.0
"""Time after which the rest of the history is left to the next call."""

_UNREAD = (
    "git can't say yet what all commits changed, since objects are missing or it takes long:"
    " no history is used"
)


class CountedCommit(NamedTuple):
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


class CountedCommits:
    """The commits that count, the newest first."""

    def __init__(
        self,
        commits: Sequence[CountedCommit] = (),
        *,
        renamed: Mapping[str, str] | None = None,
        notes: tuple[str, ...] = (),
    ) -> None:
        self.commits = tuple(commits)
        self.renamed: Mapping[str, str] = renamed or {}
        """The newest names of files by their former ones, which other files may have now."""
        self.notes = notes
        """What is left out, and why."""
        self._by_file: dict[str, list[CountedCommit]] = defaultdict(list)
        for commit in self.commits:
            for file in commit.files:
                self._by_file[file].append(commit)

    def of(self, path: str) -> Sequence[CountedCommit]:
        """Return the commits of a file, the newest first."""
        return self._by_file.get(path, ())


class CodeHistory:
    """Reads the commits of a work tree that count, again if HEAD changed."""

    def __init__(self, tree: Path) -> None:
        self._tree = tree
        self._history = open_history(tree)
        self._last: tuple[tuple[str, int], CountedCommits] | None = None

    def read_counted(self, max_files: int = MOST_FILES) -> CountedCommits:
        """Return the commits up to HEAD; what is not known yet is read first.

        Commits that change more than `max_files` files don't count, except for their renames.
        Raises Busy or StorageFailed if the database can't be used.
        """
        head = repository.read_head_commit(self._tree)
        if not head:
            problem = repository.find_problem(self._tree) or "there are no commits yet"
            return CountedCommits(notes=(problem,))
        commits = self._history.at(head, seconds=_SECONDS)
        if commits is None:
            problem = repository.find_problem(self._tree)
            return CountedCommits(notes=(f"{problem}: no history is used" if problem else _UNREAD,))
        key = commits.key, max_files
        if self._last is None or self._last[0] != key:
            self._last = key, _filter_commits(commits, max_files)
        return self._last[1]

    def read_all(self) -> CommitsAt | None:
        """Return the commits up to HEAD; None if git can't say yet, or there are none."""
        head = repository.read_head_commit(self._tree)
        try:
            return self._history.at(head, seconds=_SECONDS) if head else None
        except Busy:
            return None

    def close(self) -> None:
        """Close the database."""
        self._last = None
        self._history.close()


def _filter_commits(commits: CommitsAt, max_files: int) -> CountedCommits:
    """Return the commits of a history that count for the coupling of files."""
    outlines = commits.list_outlines(MOST + 1)
    known = [outline for outline in outlines[:MOST] if outline.id not in commits.ends]
    count = len(known)
    partial = "this is a partial clone: renames are followed only of files with the same bytes"
    notices = {
        f"only the newest {count:,} commits are used": len(outlines) > MOST,
        f"this is a shallow clone of {count:,} commit{'s' * (count != 1)}": bool(commits.ends),
        partial: commits.partial,
    }
    notes = tuple(note for note, applies in notices.items() if applies)
    changes = commits.file_changes(max_files)
    rows = ((outline, changes.get(outline.n, ())) for outline in known)
    return filter_counted(rows, max_files, notes=notes)


def filter_counted(
    rows: Iterable[tuple[CommitOutline, Sequence[PathPair]]],
    max_files: int,
    *,
    notes: tuple[str, ...] = (),
) -> CountedCommits:
    """Return the commits that count: those of at most `max_files` files.

    `rows` are commits with their changes, the newest first. A path in a commit means
    the file that has its name now: the renames of newer commits apply, those of larger commits too.
    A path whose former file was replaced by a renamed one keeps its own name for older commits.
    Names that are not UTF-8 are left out.
    """
    names: dict[str, str] = {}
    renamed: dict[str, str] = {}
    commits = []
    for age, ((_, _, when, size, subject), changes) in enumerate(rows):
        if 0 < size <= max_files:
            files = dict.fromkeys(names.get(path, path) for _, path in changes)
            commits.append(CountedCommit(age, when, size, tuple(filter(is_utf8, files)), subject))
        renames = [(old, path) for old, path in changes if old]
        new_names = {old: names.get(path, path) for old, path in renames}
        for _, path in renames:
            names.pop(path, None)
        names |= new_names
        renamed = new_names | renamed
    return CountedCommits(commits, renamed=renamed, notes=notes)


MOST_SUBJECTS = 100
"""Number of commits of a file, the newest, whose subjects are used."""


class CommitSubjects:
    """The subjects of the commits that count."""

    def __init__(self, read: Callable[[], CountedCommits] = CountedCommits) -> None:
        """Read the commits when their subjects are asked for; by default, there are none."""
        self._read = read
        self._commits = CountedCommits()
        self._hashes: dict[str, str] = {}

    @property
    def generation(self) -> object:
        """The commits, read again if HEAD changed."""
        counted_commits = self._read()
        if counted_commits is not self._commits:
            self._commits, self._hashes = counted_commits, {}
        return counted_commits

    def of(self, path: str) -> Sequence[str]:
        """Return the subjects of a file's commits, the newest first, each once."""
        commits = self._commits.of(path)[:MOST_SUBJECTS]
        return tuple(dict.fromkeys(commit.subject for commit in commits if commit.subject))

    def hash(self, path: str) -> str:
        """Return digits that change with the subjects of a file; empty if it has none."""
        if path not in self._hashes:
            text = "\n".join(self.of(path))
            self._hashes[path] = blake3(text.encode()).hexdigest()[:16] if text else ""
        return self._hashes[path]


_NO_REASON = lazy_pattern(
    r"^(?:signed-off-by|co-authored-by|reviewed-by|acked-by|tested-by|cc|change-id):.*$",
    re.IGNORECASE | re.MULTILINE,
)
"""Trailers that don't say why."""


def message_reason(commit: Commit) -> str:
    """Return what the message of a commit says besides its subject, without signatures."""
    return re.sub(r"\n{3,}", "\n\n", _NO_REASON.sub("", commit.body)).strip()
