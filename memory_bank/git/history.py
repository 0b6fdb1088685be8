"""The commits of a repository and the files that each changed; when files were committed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from memory_bank.base import sqlite
from memory_bank.base.documents import Committed
from memory_bank.base.errors import Busy, IndexDamaged, StorageFailed
from memory_bank.base.filenames import is_utf8
from memory_bank.git import repository
from memory_bank.git.process import run

_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE commits (
    path TEXT PRIMARY KEY, first REAL NOT NULL, last REAL NOT NULL, blob BLOB NOT NULL
) WITHOUT ROWID
"""

_VERSION = 1

_UNANSWERED = " unanswered"
"""Suffix of a commit whose history git could not return."""


class CommitHistory:
    """The commits of files, cached in a database and in memory."""

    def __init__(
        self,
        folder: Path,
        file: Callable[[], Path],
        paths: Sequence[str] = (".",),
        commit: str = "",
    ) -> None:
        """Read the history of the files at or below `paths` of `folder`.

        `file` returns the path of the cache. The history ends at `commit`, by default at HEAD.
        """
        self._folder = folder
        self._paths = tuple(paths)
        self._file = file
        self._commit = commit
        self._commits: dict[str, Committed] | None = None
        self._head = ""

    def of(self, path: str) -> Committed | None:
        """Return the commits of a file, as of the last refresh; None if there are none."""
        return self._loaded().get(path)

    @property
    def paths(self) -> Collection[str]:
        """The paths of all files that were ever committed, as of the last refresh."""
        return self._loaded().keys()

    @property
    def known(self) -> bool:
        """Whether there is a history that could be read."""
        self._loaded()
        return bool(self._head) and not self._head.endswith(_UNANSWERED)

    def same(self, data: bytes, blob: bytes) -> bool:
        """Tell whether bytes are the content of a blob, line ends aside."""
        return repository.blob(data, blob) == blob

    def refresh(self, *, again: bool = False) -> bool:
        """Read the history if HEAD changed; tell whether the commits of any file changed.

        After a failure, the same commit is only read with `again`: otherwise a history that takes
        too long would delay every query.
        """
        tree = repository.worktree(self._folder)
        last = self._commit or (repository.head(tree) if tree else None)
        head = last
        if head is not None and self._paths != (".",):
            head = f"{head} {list(self._paths)}"  # other paths: another history
        before, known = self._read(), self._head
        if tree is None or last is None or head is None or known == head:
            return False
        if known == head + _UNANSWERED and not again:
            return False
        found = repository.history(tree, self._folder, self._paths, last)
        if found is None:
            self._save(head + _UNANSWERED, before)
            return False
        commits = {path: one for path, one in found.items() if is_utf8(path)}
        self._save(head, commits)
        return commits != before or not known

    def close(self) -> None:
        """Drop the cache in memory."""
        self._commits = None

    def _loaded(self) -> dict[str, Committed]:
        return self._read() if self._commits is None else self._commits

    def _read(self) -> dict[str, Committed]:
        """Read the cache in the database."""
        self._commits, self._head = {}, ""
        file = self._file()
        if file.exists():
            try:
                base = sqlite.connect(file, _TABLES, _VERSION, make=False)
                with sqlite.guarded(file):
                    rows = base.execute("SELECT path, first, last, blob FROM commits").fetchall()
                    row = base.execute("SELECT value FROM meta WHERE key = 'head'").fetchone()
                base.close()
                self._commits = {path: Committed(*found) for path, *found in rows}
                self._head = str(row[0]) if row else ""
            except (IndexDamaged, Busy, StorageFailed):
                pass  # git is read again
        return self._commits

    def _save(self, head: str, commits: dict[str, Committed]) -> None:
        self._commits, self._head = commits, head
        file = self._file()
        try:
            base = sqlite.connect_cache(file, _TABLES, _VERSION)
            with sqlite.guarded(file), sqlite.transaction(base):
                base.execute("DELETE FROM commits")
                rows = ((path, *found) for path, found in commits.items())
                base.executemany("INSERT INTO commits VALUES (?, ?, ?, ?)", rows)
                base.execute("INSERT OR REPLACE INTO meta VALUES ('head', ?)", (head,))
            base.close()
        except (IndexDamaged, Busy, StorageFailed):
            return  # cached in memory only


_SECONDS = 5.0
"""Time limit of listing the changes of one block of commits."""

_RENAME_LIMIT = 200
"""Number of added or removed files of a commit above which only those with the same bytes are
compared: comparing the others takes time that grows with its square."""

_EXACT = "--find-renames=100%"
"""Option that finds renames by the ids of blobs, so that none is read."""

_MOST_SUBJECT = 300
"""Characters of a subject that are kept."""

_PLAIN = ("--no-ext-diff", "--no-textconv", "-O/dev/null")


class Extent(NamedTuple):
    """Which commits a clone has, and how well it knows them."""

    head: str
    partial: bool
    """Whether objects may be missing, as in a clone with a filter; git would fetch them."""
    ends: frozenset[str] = frozenset()
    """In a shallow clone, the commits whose parents are missing: they would seem to have added
    every file."""

    @property
    def key(self) -> str:
        """A text that differs if other commits or changes are known."""
        return " ".join([self.head, *["partial"][: self.partial], *sorted(self.ends)])


class ListedCommits(NamedTuple):
    """The commits before HEAD that are not merges, the newest first."""

    commits: tuple[tuple[str, int], ...]
    """Ids, and times in seconds since the epoch; without the ends of a shallow clone."""
    more: bool
    """Whether there are older ones that are not listed."""


class Change(NamedTuple):
    """What a commit did to a file."""

    status: str
    """The letter that git gives it: A, M, D, R (renamed) or T."""
    old: str
    """Its path before."""
    path: str
    """Its path after; the same, unless it was renamed."""


def extent(tree: Path, known: Extent | None = None, rev: str = "HEAD") -> Extent | None:
    """Return which commits lead to a revision; None if there are none, or git can't say.

    `known` is what was returned last: it is returned again if HEAD is the same. That the clone has
    become a partial one since then only matters for new commits.
    """
    found = run(tree, "rev-parse", "--is-shallow-repository", f"{rev}^{{commit}}")
    shallow, _, head = (found or "").strip().partition("\n")
    if not head:
        return None
    if known is not None and known == Extent(head, known.partial) and shallow != "true":
        return known
    partial = repository.renames_option(tree, _EXACT) == _EXACT
    if shallow != "true":
        return Extent(head, partial)
    ends = run(tree, "rev-list", "--max-parents=0", head, "--")
    return None if ends is None else Extent(head, partial, frozenset(ends.split()))


def listed(tree: Path, extent: Extent, most: int) -> ListedCommits | None:
    """List at most so many commits; None if git can't say."""
    words = ("--no-merges", "--timestamp", f"--max-count={most + 1}", extent.head)
    found = run(tree, "rev-list", *words, "--")
    if found is None:
        return None
    lines = [line.split() for line in found.splitlines()]
    commits = [(commit, int(when)) for when, commit in lines if commit not in extent.ends]
    return ListedCommits(tuple(commits[:most]), len(lines) > most)


def changes(tree: Path, commits: Sequence[str], *, exact: bool) -> dict[str, str] | None:
    """Return what some commits changed, as text for `parsed`; None if git can't say in time.

    With `exact`, only renamed files with the same bytes are found as such: no blob is read.
    """
    how = (_EXACT,) if exact else ("--find-renames", f"-l{_RENAME_LIMIT}")
    found = run(
        tree, "diff-tree", "--stdin", "--root", "-r", "-z", "--name-status", *_PLAIN, *how,
        given="".join(f"{commit}\n" for commit in commits), seconds=_SECONDS,
    )  # fmt: skip
    if found is None:
        return None
    wanted, texts = set(commits), dict[str, str]()
    commit, start, place = "", 0, 0
    while place < len(found):
        end = found.find("\0", place)
        word = found[place:end]
        if word in wanted:  # a status is expected here, so it is no path
            texts[commit] = found[start:place]
            commit, start, place = word, end + 1, end + 1
            continue
        for _ in range(2 if word.startswith(("R", "C")) else 1):
            end = found.find("\0", end + 1)
        place = end + 1 if end >= 0 else len(found)
    texts[commit] = found[start:]
    texts.pop("", None)
    return texts


def subjects(tree: Path, commits: Sequence[str]) -> dict[str, str] | None:
    """Return the first lines of the messages of some commits; None if git can't say in time."""
    found = run(
        tree, "log", "--no-walk=unsorted", "--stdin", "--encoding=UTF-8", "--format=%H %s",
        "--no-patch", "--no-mailmap", "--no-show-signature",
        given="".join(f"{commit}\n" for commit in commits), seconds=_SECONDS,
    )  # fmt: skip
    if found is None:
        return None
    pairs = (line.partition(" ") for line in found.split("\n") if line)
    return {commit: subject[:_MOST_SUBJECT] for commit, _, subject in pairs}


def parsed(text: str) -> Iterator[Change]:
    """Yield the changes of a text that `changes` returned."""
    words = iter(text.split("\0"))
    for status in words:
        if not status:
            return
        old = next(words, "")
        yield Change(status[0], old, next(words, "") if status[0] in "RC" else old)


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
        changes = list(parsed(row.changes.decode("utf-8", "surrogateescape")))
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
