"""Keep what each commit of a repository changed, and tell the history of files across renames.

Rows depend on their commit alone, so work trees on different branches share one database, and
after a new HEAD, rewritten or not, only commits that no row has are read.
"""

from __future__ import annotations

import json
import time
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from memory_bank import sqlite
from memory_bank.errors import IndexDamaged
from memory_bank.layout import private_folder
from memory_bank.repo import git, git_log
from memory_bank.repo.history import CommitRow, History, history_of

MOST = 20_000
"""Number of commits, the newest, that are read."""
_BLOCK = 500
"""Number of commits that are read and stored at once."""
_SECONDS = 20.0
"""Time after which the rest is left to the next refresh."""
_UNREAD = "{:,} of {:,} commits are not read yet: the next call goes on"
_REFUSED = (
    "git can't say what {:,} of {:,} commits changed: objects are missing, or it takes too long"
)
_KEPT_HEADS = 8
"""Number of HEADs whose lists of commits are kept."""
_MOST_ROWS = 5 * MOST
"""Number of rows above which all are dropped: most are of commits that no HEAD has any more."""

_TABLES = """
CREATE TABLE commits (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, time INTEGER NOT NULL,
    size INTEGER NOT NULL, renames INTEGER NOT NULL, exact INTEGER NOT NULL, changes BLOB NOT NULL,
    subject TEXT NOT NULL
);
CREATE TABLE heads (
    number INTEGER PRIMARY KEY, head TEXT NOT NULL UNIQUE, commits BLOB NOT NULL,
    notes TEXT NOT NULL
)
"""
_VERSION = 2
_ROW = (
    "INSERT INTO commits (id, time, size, renames, exact, changes, subject)"
    " VALUES (?, ?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (id) DO UPDATE SET renames = excluded.renames, exact = excluded.exact,"
    " size = excluded.size, changes = excluded.changes"
)


class _Head(NamedTuple):
    """The commits of a HEAD."""

    commits: Sequence[int]
    """Numbers of their rows, the newest first."""
    notes: tuple[str, ...]


class Commits(sqlite.OpenedCache):
    """The commits of a repository, cached in a database that can be deleted at any time."""

    def __init__(self, tree: Path, file: Path) -> None:
        """Read the repository of a work tree; the database is `file`."""
        super().__init__(file, _TABLES, _VERSION)
        self._tree = tree
        self._history: tuple[tuple[str, int], History] | None = None
        self._extent: git_log.Extent | None = None

    def history(self, max_files: int) -> History:
        """Return the history up to HEAD; what is not known yet is read first.

        Commits that change more than `max_files` files don't count, except for their renames.
        Raises Busy or StorageFailed if the database can't be used.
        """
        extent = git_log.extent(self._tree, self._extent)
        self._extent = extent
        if extent is None:
            return History(notes=(git.problem(self._tree) or "there are no commits yet",))
        key = extent.key, max_files
        if self._history is not None and self._history[0] == key:
            return self._history[1]
        try:
            found, whole = self._read(extent, max_files)
        except IndexDamaged:
            self.close()
            sqlite.remove(self.file)
            found, whole = self._read(extent, max_files)
        self._history = (key, found) if whole else None
        return found

    def _read(self, extent: git_log.Extent, max_files: int) -> tuple[History, bool]:
        """Return the history, and whether all of it was read."""
        with sqlite.guarded(self.file):
            base = self.opened()
            kept = _kept(base, extent.key)
            if kept is not None:
                return _loaded(base, kept, max_files), True
            listed = git_log.listed(self._tree, extent, MOST)
            if listed is None:
                problem = git.problem(self._tree) or "git could not list the commits"
                return History(notes=(f"{problem}: no history is used",)), False
            refused = self._add(base, listed, exact=extent.partial)
            rows = _numbers(base, exact=extent.partial)
            numbers = [rows[commit] for commit, _ in listed.commits if commit in rows]
            missing = len(listed.commits) - len(numbers)
            notes = _notes(listed, extent)
            if missing:
                notes += ((_REFUSED if refused else _UNREAD).format(missing, len(listed.commits)),)
            found = _Head(numbers, notes)
            if not missing:
                _keep(base, extent.key, found)
            return _loaded(base, found, max_files), not missing

    def _add(self, base: sqlite.Connection, listed: git_log.Listed, *, exact: bool) -> bool:
        """Read commits that no row has, newest first, until the time is up or git fails.

        Returns whether git failed.
        """
        (count,) = base.execute("SELECT count(*) FROM commits").fetchone()
        if count > _MOST_ROWS:
            with sqlite.transaction(base):
                base.execute("DELETE FROM heads")
                base.execute("DELETE FROM commits")
        known = _numbers(base, exact=exact)
        wanted = [one for one in listed.commits if one[0] not in known]
        end = time.monotonic() + _SECONDS
        for start in range(0, len(wanted), _BLOCK):
            block = dict(wanted[start : start + _BLOCK])
            texts = git_log.changes(self._tree, list(block), exact=exact)
            if texts is None and not exact:  # looking for changed files among many takes long
                texts = git_log.changes(self._tree, list(block), exact=True)
            if texts is None:
                return True
            said = git_log.subjects(self._tree, list(block)) or {}
            rows = [
                (*_row(commit, when, texts.get(commit, ""), exact), _utf8(said.get(commit, "")))
                for commit, when in block.items()
            ]
            with sqlite.transaction(base):
                base.executemany(_ROW, reversed(rows))
            if time.monotonic() > end:
                break
        return False

    def close(self) -> None:
        """Close the database."""
        self._history = None
        super().close()

    def _connect(self) -> sqlite.Connection:
        private_folder(self.file.parent)
        return super()._connect()


def _numbers(base: sqlite.Connection, *, exact: bool) -> dict[str, int]:
    """Map the ids of known commits to the numbers of their rows.

    Unless `exact`, those are left out of which a partial clone knew only exact renames.
    """
    sql = "SELECT id, number FROM commits" + ("" if exact else " WHERE NOT exact")
    return dict(base.execute(sql))


def _row(commit: str, when: int, text: str, exact: bool) -> tuple[object, ...]:  # noqa: FBT001
    found = list(git_log.parsed(text))
    renames = sum(one.status == "R" for one in found)
    return commit, when, len(found), renames, exact, text.encode("utf-8", "surrogateescape")


def _utf8(text: str) -> str:
    """Return a text with what is not UTF-8 in it replaced."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _notes(listed: git_log.Listed, extent: git_log.Extent) -> tuple[str, ...]:
    """Say what is left out of a history."""
    count = len(listed.commits)
    partial = "this is a partial clone: renames are followed only of files with the same bytes"
    said = {
        f"only the newest {count:,} commits are used": listed.more,
        f"this is a shallow clone of {count:,} commit{'s' * (count != 1)}": bool(extent.ends),
        partial: extent.partial,
    }
    return tuple(note for note, applies in said.items() if applies)


def _kept(base: sqlite.Connection, head: str) -> _Head | None:
    """Return what is kept of a HEAD, by the key of its extent."""
    row = base.execute("SELECT commits, notes FROM heads WHERE head = ?", (head,)).fetchone()
    if row is None:
        return None
    try:
        numbers = array("I", row[0])
        notes = tuple(map(str, json.loads(row[1])))
    except (TypeError, ValueError) as error:
        raise IndexDamaged("a row of commits.db is damaged", "it is rebuilt") from error
    return _Head(numbers, notes)


def _keep(base: sqlite.Connection, head: str, found: _Head) -> None:
    """Keep what was found of a HEAD, and drop the HEADs that were kept first."""
    with sqlite.transaction(base):
        base.execute(
            "INSERT OR REPLACE INTO heads (head, commits, notes) VALUES (?, ?, ?)",
            (head, array("I", found.commits).tobytes(), json.dumps(found.notes)),
        )
        newest = "SELECT number FROM heads ORDER BY number DESC LIMIT ?"
        base.execute(f"DELETE FROM heads WHERE number NOT IN ({newest})", (_KEPT_HEADS,))


def _loaded(base: sqlite.Connection, found: _Head, max_files: int) -> History:
    """Return the history of a HEAD; raise IndexDamaged if rows are missing."""
    # the changes of a large commit only matter if files are renamed in it
    changes = "CASE WHEN size <= ? OR renames THEN changes END"
    sql = f"SELECT number, time, size, {changes}, subject FROM commits"
    rows = {number: rest for number, *rest in base.execute(sql, (max_files,))}
    try:
        ordered = [CommitRow(*rows[number]) for number in found.commits]
    except (KeyError, TypeError) as error:
        raise IndexDamaged("rows of commits.db are missing", "it is rebuilt") from error
    return history_of(ordered, max_files, found.notes)
