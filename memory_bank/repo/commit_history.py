"""Cache when the files of a folder were committed; git runs only after HEAD changed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from memory_bank import sqlite
from memory_bank.errors import Busy, IndexDamaged, StorageFailed
from memory_bank.filenames import is_utf8
from memory_bank.repo import git
from memory_bank.source import Committed

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
        return git.blob(data, blob) == blob

    def refresh(self, *, again: bool = False) -> bool:
        """Read the history if HEAD changed; tell whether the commits of any file changed.

        After a failure, the same commit is only read with `again`: otherwise a history that takes
        too long would delay every query.
        """
        tree = git.worktree(self._folder)
        last = self._commit or (git.head(tree) if tree else None)
        head = last
        if head is not None and self._paths != (".",):
            head = f"{head} {list(self._paths)}"  # other paths: another history
        before, known = self._read(), self._head
        if tree is None or last is None or head is None or known == head:
            return False
        if known == head + _UNANSWERED and not again:
            return False
        found = git.history(tree, self._folder, self._paths, last)
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
