"""The commits of a repository as git prints them and as a database keeps them.

Rows depend on their commit alone, so work trees on different branches share one database, and
after a new HEAD, rewritten or not, only commits that no row has are read.
"""

from __future__ import annotations

import json
import re
import time
from array import array
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from pathlib import Path
from sqlite3 import Connection
from typing import NamedTuple, Protocol

from blake3 import blake3

from memory_bank.base import sqlite
from memory_bank.base.errors import IndexDamaged
from memory_bank.base.paths import private_folder
from memory_bank.git import history, repository
from memory_bank.git.history import CommitRow, Extent, History, ListedCommits, history_of

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
        self._extent: history.Extent | None = None

    def history(self, max_files: int) -> History:
        """Return the history up to HEAD; what is not known yet is read first.

        Commits that change more than `max_files` files don't count, except for their renames.
        Raises Busy or StorageFailed if the database can't be used.
        """
        extent = history.extent(self._tree, self._extent)
        self._extent = extent
        if extent is None:
            return History(notes=(repository.problem(self._tree) or "there are no commits yet",))
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

    def _read(self, extent: Extent, max_files: int) -> tuple[History, bool]:
        """Return the history, and whether all of it was read."""
        with sqlite.guarded(self.file):
            base = self.opened()
            kept = _kept(base, extent.key)
            if kept is not None:
                return _loaded(base, kept, max_files), True
            listed = history.listed(self._tree, extent, MOST)
            if listed is None:
                problem = repository.problem(self._tree) or "git could not list the commits"
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

    def _add(self, base: Connection, listed: ListedCommits, *, exact: bool) -> bool:
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
            texts = history.changes(self._tree, list(block), exact=exact)
            if texts is None and not exact:  # looking for changed files among many takes long
                texts = history.changes(self._tree, list(block), exact=True)
            if texts is None:
                return True
            said = history.subjects(self._tree, list(block)) or {}
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

    def _connect(self) -> Connection:
        private_folder(self.file.parent)
        return super()._connect()


def _numbers(base: Connection, *, exact: bool) -> dict[str, int]:
    """Map the ids of known commits to the numbers of their rows.

    Unless `exact`, those are left out of which a partial clone knew only exact renames.
    """
    sql = "SELECT id, number FROM commits" + ("" if exact else " WHERE NOT exact")
    return dict(base.execute(sql))


def _row(commit: str, when: int, text: str, exact: bool) -> tuple[object, ...]:  # noqa: FBT001
    found = list(history.parsed(text))
    renames = sum(one.status == "R" for one in found)
    return commit, when, len(found), renames, exact, text.encode("utf-8", "surrogateescape")


def _utf8(text: str) -> str:
    """Return a text with what is not UTF-8 in it replaced."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _notes(listed: history.ListedCommits, extent: history.Extent) -> tuple[str, ...]:
    """Say what is left out of a history."""
    count = len(listed.commits)
    partial = "this is a partial clone: renames are followed only of files with the same bytes"
    said = {
        f"only the newest {count:,} commits are used": listed.more,
        f"this is a shallow clone of {count:,} commit{'s' * (count != 1)}": bool(extent.ends),
        partial: extent.partial,
    }
    return tuple(note for note, applies in said.items() if applies)


def _kept(base: Connection, head: str) -> _Head | None:
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


def _keep(base: Connection, head: str, found: _Head) -> None:
    """Keep what was found of a HEAD, and drop the HEADs that were kept first."""
    with sqlite.transaction(base):
        base.execute(
            "INSERT OR REPLACE INTO heads (head, commits, notes) VALUES (?, ?, ?)",
            (head, array("I", found.commits).tobytes(), json.dumps(found.notes)),
        )
        newest = "SELECT number FROM heads ORDER BY number DESC LIMIT ?"
        base.execute(f"DELETE FROM heads WHERE number NOT IN ({newest})", (_KEPT_HEADS,))


def _loaded(base: Connection, found: _Head, max_files: int) -> History:
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


_UNIT, _RECORD = "\x1f", "\x1e"

FORMAT = (
    "--format=%x1e%H%x00%P%x00%at%x00%ct%x00%an%x00%ae%x00%s%x00"
    "%(trailers:key=Reviewed-by,valueonly,unfold,separator=%x1f)%x00%b%x00"
)

_NUMBER_OF_FIELDS = 9
"""Fields of a commit in the output, before its files."""

_LONGEST = 300
"""Characters of a name, an address or a subject that are kept."""

_MOST_TRAILERS = 50

_CO_AUTHOR = re.compile(r"^[ \t]*co-authored-by[ \t]*:(.+)$", re.IGNORECASE | re.MULTILINE)

_LAST_SECOND = 253_402_300_799


class Person(NamedTuple):
    """A person whom a line at the end of a commit's message names."""

    name: str
    mail: str


class FileCommit(NamedTuple):
    """A commit that changed a file of the folder."""

    id: str
    parents: tuple[str, ...]
    time: int
    """When it was written (its author's time), in seconds since the epoch."""
    committed: int
    """When it was made or rebased, in seconds since the epoch."""
    author: str
    mail: str
    subject: str
    co_authors: tuple[Person, ...]
    """Of all lines `Co-authored-by`: forges and hooks add paragraphs below them, and a line that
    names an agent only lowers trust."""
    reviewers: tuple[Person, ...]
    """Of the trailers `Reviewed-by`, as git parses them: in the last paragraph only."""


class FileChange(NamedTuple):
    """What a commit did to a file, by the names before and after."""

    commit: FileCommit
    status: str
    """A letter of git: A, M, D, R or T; for a merge, one for each parent."""
    old: str
    path: str


def parsed(log: str, prefix: str) -> Iterable[tuple[FileCommit, tuple[tuple[str, str, str], ...]]]:
    """Yield the commits of a log with what each changed below the folder.

    With `-z`, git separates fields and paths by NUL; a record starts with a NUL or the start of the
    output, the separator of records, and an id: a path or a message can't look like that, since
    they contain no NUL and the count of fields is fixed.
    """
    words = log.split("\0")
    place = 0
    while place < len(words):
        start = words[place].lstrip("\n")
        if not start.startswith(_RECORD):
            place += 1
            continue
        fields = [start[1:], *words[place + 1 : place + _NUMBER_OF_FIELDS]]
        place += _NUMBER_OF_FIELDS
        changes = []
        while place < len(words) and not words[place].lstrip("\n").startswith(_RECORD):
            status = words[place].lstrip("\n")
            place += 1
            if not status:
                continue
            old = path = words[place] if place < len(words) else ""
            place += 1
            if status[0] in "RC" and status[1:].isdigit():
                path = words[place] if place < len(words) else ""
                place += 1
                status = status[0]
            changes.append((status, old, path))
        ours = tuple(
            (status, below(old, prefix), below(path, prefix))
            for status, old, path in changes
            if path.startswith(prefix)
        )
        if ours and len(fields) == _NUMBER_OF_FIELDS:
            yield _commit_of(fields), ours


def _commit_of(fields: Sequence[str]) -> FileCommit:
    commit, parents, time, committed, author, mail, subject, reviewers, body = fields
    return FileCommit(
        commit, tuple(parents.split()), _second(time), _second(committed), clean(author),
        clean(mail), clean(subject), _people(_CO_AUTHOR.findall(body)),
        _people(reviewers.split(_UNIT)),
    )  # fmt: skip


def _people(lines: Iterable[str]) -> tuple[Person, ...]:
    found = []
    for line in islice(filter(str.strip, lines), _MOST_TRAILERS):
        name, _, rest = line.partition("<")
        found.append(Person(clean(name), clean(rest.partition(">")[0])))
    return tuple(found)


def clean(text: str) -> str:
    """Return a text on one line without control characters, and what is not UTF-8 replaced."""
    plain = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")[:_LONGEST]
    return "".join(char if char.isprintable() else " " for char in plain).strip()


def _second(text: str) -> int:
    return min(int(text), _LAST_SECOND) if text.isdigit() else 0


def below(path: str, prefix: str) -> str:
    """Return a path below the folder; one outside of it with what leads there."""
    inside = path[len(prefix) :] if path.startswith(prefix) else f"/{path}"
    return inside.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


MOST_SUBJECTS = 100
"""Number of commits of a file, the newest, whose subjects are used."""


class Subjects(Protocol):
    """What the commits of files say."""

    @property
    def generation(self) -> object:
        """What differs when the subjects may have changed."""

    def of(self, path: str) -> Sequence[str]:
        """Return the subjects of a file's commits, the newest first."""

    def hash(self, path: str) -> str:
        """Return digits that change with the subjects of a file; empty if it has none."""


class NoSubjects:
    """No commits say anything."""

    generation: object = None

    def of(self, path: str) -> Sequence[str]:  # noqa: ARG002
        """Return none."""
        return ()

    def hash(self, path: str) -> str:  # noqa: ARG002
        """Return none."""
        return ""


class CommitSubjects:
    """The subjects of the commits of a history."""

    def __init__(self, history: Callable[[], History]) -> None:
        """Read a history when its subjects are asked for."""
        self._read = history
        self._history = History()
        self._hashes: dict[str, str] = {}

    @property
    def generation(self) -> object:
        """The history, read again if HEAD changed."""
        found = self._read()
        if found is not self._history:
            self._history, self._hashes = found, {}
        return found

    def of(self, path: str) -> Sequence[str]:
        """Return the subjects of a file's commits, the newest first, each once."""
        return subjects_of(self._history, path)

    def hash(self, path: str) -> str:
        """Return digits that change with the subjects of a file; empty if it has none."""
        if path not in self._hashes:
            text = "\n".join(self.of(path))
            self._hashes[path] = blake3(text.encode()).hexdigest()[:16] if text else ""
        return self._hashes[path]


def subjects_of(history: History, path: str) -> tuple[str, ...]:
    """Return the subjects of a file's newest commits, the newest first, each once."""
    return tuple(
        dict.fromkeys(one.subject for one in history.of(path)[:MOST_SUBJECTS] if one.subject)
    )
