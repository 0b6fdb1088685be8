"""The commits that lead to one commit, as the database of the history has them."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from operator import itemgetter
from sqlite3 import Connection
from typing import Any, Protocol

from memory_bank.base import NamedTuple, lazy_pattern
from memory_bank.base.errors import IndexDamaged

_COLUMNS = (
    "c.n, c.id, c.parents, c.written, c.made, w.name, w.mail, c.subject, c.body, c.people,"
    " c.request, c.rank"
)

_CHANGES = (
    f"SELECT {_COLUMNS}, ch.status, o.path, p.path, ch.before, ch.after FROM {{}}"
    " JOIN commits c ON c.n = ch.commit_n JOIN people w ON w.n = c.who"
    " LEFT JOIN paths o ON o.n = ch.old WHERE {} ORDER BY c.rank DESC, c.id"
)

_OF_PATH = _CHANGES.format(
    "changes ch JOIN paths p ON p.n = ch.path",
    "ch.path = (SELECT n FROM paths WHERE path = ?1)"
    " OR ch.old = (SELECT n FROM paths WHERE path = ?1)",
)

_NAMED = "SELECT n FROM paths WHERE path = ?1 OR (path > ?2 AND path < ?3)"

_BELOW = _CHANGES.format(
    "changes ch JOIN paths p ON p.n = ch.path", f"ch.path IN ({_NAMED}) OR ch.old IN ({_NAMED})"
)

_EVERY = _CHANGES.format("changes ch JOIN paths p ON p.n = ch.path", "1")

_OF_COMMIT = _CHANGES.format("changes ch JOIN paths p ON p.n = ch.path", "c.id = ?")

_COMMITS = (
    f"SELECT {_COLUMNS} FROM commits c JOIN people w ON w.n = c.who WHERE {{}}"
    " ORDER BY c.rank DESC, c.id"
)

_ID_START = lazy_pattern(r"[0-9a-f]{7,64}")

_MOST_CHAIN = 5000
"""Number of commits in a row that are looked at for a merge."""


class Commit(NamedTuple):
    """A commit, with texts of strangers; they have no control characters and no secrets."""

    id: str
    parents: tuple[str, ...]
    written: int
    """When its author wrote it, in seconds since the epoch."""
    made: int
    """When it was made or rebased, in seconds since the epoch."""
    author: str
    mail: str
    subject: str
    body: str
    """The message without the subject."""
    co_authors: tuple[tuple[str, str], ...]
    """Names and addresses of all lines `Co-authored-by`: forges and hooks add paragraphs below
    them, and a line that names an agent only lowers trust."""
    reviewers: tuple[tuple[str, str], ...]
    """Those of the trailers `Reviewed-by`, as git parses them: in the last paragraph only."""
    request: int
    """Number of the pull request that its message names; 0 for none."""


class Change(NamedTuple):
    """What a commit did to a file; of a file with several changes, the newest come first."""

    commit: Commit
    status: str
    """A letter of git: A, M, D, R or T; one for each parent of a merge, if it differs from all."""
    old: str
    """Its path before; the same, unless it was renamed."""
    path: str
    before: str
    """The id of its blob in the first parent; empty if there is none."""
    after: str
    """Empty if it was removed."""

    @property
    def merged(self) -> bool:
        """Whether a merge made it."""
        return len(self.status) > 1


class CommitOutline(NamedTuple):
    """A commit that is no merge."""

    n: int
    """Its number in the database."""
    id: str
    when: int
    """When it was made, in seconds since the epoch."""
    size: int
    """Number of files that it changed."""
    subject: str


PathPair = tuple[str, str]
"""The former path of a file, empty unless it was renamed, and its path."""


class CommitNode(NamedTuple):
    """A commit of the graph."""

    id: bytes
    parents: tuple[int, ...]
    rank: int
    """Its time in seconds, or a second after its parent's: parents come first."""


def list_ancestors(graph: Mapping[int, CommitNode], start: int) -> set[int]:
    """Return a commit and those before it."""
    ancestors, waiting = {start}, [start]
    while waiting:
        for parent in graph[waiting.pop()].parents:
            if parent not in ancestors:
                ancestors.add(parent)
                waiting.append(parent)
    return ancestors


def yield_leaves(graph: Mapping[int, CommitNode]) -> Iterator[str]:
    """Yield the ids of the commits that are the parent of no other one."""
    inner = {parent for node in graph.values() for parent in node.parents}
    return (node.id.hex() for n, node in graph.items() if n not in inner)


class CommitRows(Protocol):
    """The database of the history."""

    def opened(self) -> Connection:
        """Return the connection."""

    def rows(self, sql: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Run a query."""

    def graph(self) -> Mapping[int, CommitNode]:
        """Return all commits, parents first, by their numbers."""

    def reopen(self, head: str, *, damaged: bool) -> CommitsAt:
        """Read again what leads to a commit, as the database was replaced."""


_MOST_FILES = 2_000
"""Files whose changes are kept in memory."""


class CommitsAt:
    """The commits that lead to one commit, itself among them, and what they changed.

    Its methods raise Busy or StorageFailed if the database can't be read. Paths are below the work
    tree; what is not UTF-8 in them has surrogates.
    """

    def __init__(
        self,
        history: CommitRows,
        head: str,
        last: int,
        unreached: Collection[int],
        *,
        ends: frozenset[str] = frozenset(),
        partial: bool = False,
    ) -> None:
        """Look at the commits up to the number `last` but for the `unreached` ones."""
        self._history = history
        self.head = head
        self._base = history.opened()
        self._last, self._unreached = last, unreached
        self.ends = ends
        """The commits of a shallow clone whose parents are missing: they seem to have added every
        file."""
        self.partial = partial
        """Whether blobs may be missing, so that only renames of files with the same bytes are
        known."""
        self._commits: dict[int, Commit] = {}
        self._before: dict[int, set[int]] = {}
        self._of_files: dict[tuple[str, str], tuple[Change, ...]] = {}

    @property
    def key(self) -> str:
        """A text that differs if other commits or changes are known."""
        return " ".join([self.head, *["partial"][: self.partial], *sorted(self.ends)])

    def commits(self, *, worded: int = 0) -> Iterator[Commit]:
        """Yield the commits, the newest first.

        `worded` leaves out those whose body has fewer words; lines such as `Signed-off-by` don't
        count.
        """
        return map(self._commit, self._rows(_COMMITS.format("c.words >= ?"), (worded,)))

    def commit(self, name: str) -> Commit | None:
        """Return the commit of an id, or of the only one that starts so; None if there is none."""
        if not _ID_START.fullmatch(name):
            return None
        prefix = bytes.fromhex(name[: len(name) // 2 * 2])
        sql = _COMMITS.format("c.id >= ? AND c.id < ?")
        rows = self._rows(sql, (prefix, prefix + b"\xff" * 32))
        matches = [row for row in rows if row[1].hex().startswith(name)]
        return self._commit(matches[0]) if len(matches) == 1 else None

    def changes(self, path: str, folder: str = "") -> tuple[Change, ...]:
        """Return the changes of a file, the newest first; renames are followed to older names.

        A file that was moved out of `folder` was removed.
        """
        if (path, folder) not in self._of_files:
            if len(self._of_files) >= _MOST_FILES:
                self._of_files.clear()
            self._of_files[path, folder] = self._follow_renames(path, folder)
        return self._of_files[path, folder]

    def _follow_renames(self, path: str, folder: str) -> tuple[Change, ...]:
        history: list[Change] = []
        name, newest = path, _FIRST
        while True:
            renamed = ""
            for key, row_change in self._changes(_OF_PATH, (_bytes(name),)):
                if key <= newest:
                    continue
                change = row_change
                if not history and change.path != name and not is_below(change.path, folder):
                    change = change._replace(status="D", path=name, after="")
                if change.path != name or (change.status == "D" and history):
                    return tuple(history)  # an older file that had this name
                history.append(change)
                if change.status == "R":
                    renamed, newest = change.old, key
                    break
            if not renamed:
                return tuple(history)
            name = renamed

    def changes_below(
        self, *paths: str, since: float = 0, merges: bool = True, renames: bool = True
    ) -> Iterator[Change]:
        """Yield the changes of all files at or below some paths, the newest first.

        A file that was moved from there elsewhere was removed; without `renames`, a moved one was
        removed and another added. An empty path is the work tree. `since` leaves out changes
        written before a time.
        """
        if "" in paths:
            queries: list[tuple[str, tuple[bytes, ...]]] = [(_EVERY, ())]
        else:
            names = dict.fromkeys(map(_bytes, paths))
            queries = [(_BELOW, (name, name + b"/", name + b"0")) for name in names]
        changes = {}
        for sql, values in queries:
            for key, change in self._changes(sql, values):
                if change.commit.written >= since and (merges or not change.merged):
                    changes[key, change.path] = change
        folders = tuple(f"{path}/" for path in paths if path)
        for (_, path), change in sorted(changes.items(), key=itemgetter(0)):
            inside = path.startswith(folders) or any(is_below(path, folder) for folder in paths)
            if inside and (renames or change.status != "R"):
                yield change
                continue
            if inside:
                yield change._replace(status="A", old=path, before="")
            if any(is_below(change.old, folder) for folder in paths):
                yield change._replace(status="D", path=change.old, after="")

    def changes_of(self, commit: str) -> tuple[Change, ...]:
        """Return what a commit changed, given by its full id."""
        return tuple(change for _, change in self._changes(_OF_COMMIT, (bytes.fromhex(commit),)))

    def list_outlines(self, most: int) -> list[CommitOutline]:
        """Return at most so many commits that are no merges, the newest first."""
        sql = (
            "SELECT n, id, made, size, subject FROM commits WHERE length(parents) <= length(id)"
            " ORDER BY rank DESC, id"
        )
        return [CommitOutline(n, key.hex(), *rest) for n, key, *rest in self._rows(sql, ())[:most]]

    def file_changes(self, max_files: int) -> Mapping[int, Sequence[PathPair]]:
        """Return the changes of commits by their numbers; of larger ones the renames only."""
        sql = (
            "SELECT ch.commit_n, o.path, p.path FROM changes ch JOIN commits c ON c.n = ch.commit_n"
            " JOIN paths p ON p.n = ch.path LEFT JOIN paths o ON o.n = ch.old"
            " WHERE c.size <= ? OR ch.old IS NOT NULL ORDER BY p.path"
        )
        changes: dict[int, list[PathPair]] = {}
        for n, old, path in self._query(sql, (max_files,)):
            pair = "" if old is None else _path(old), _path(path)
            changes.setdefault(n, []).append(pair)
        return changes

    def is_before(self, commit: str, head: str) -> bool:
        """Tell whether a commit is `head`, or before it; False if one of them is unknown."""
        number, end = self._numbers.get(commit), self._numbers.get(head)
        if number is None or end is None:
            return False
        if number == end or self.head == head:
            return True
        key, end_key = _sort_key(self._graph[number]), _sort_key(self._graph[end])
        if key < end_key:
            return False  # it is newer
        at = bisect_left(self._bottlenecks, end_key)
        if at < len(self._bottlenecks) and self._bottlenecks[at] <= key:
            return True
        if end not in self._before:
            self._before[end] = list_ancestors(self._graph, end)
        return number in self._before[end]

    def is_after(self, commit: str, base: str) -> bool:
        """Tell whether a commit is one of these, but neither `base` nor before it."""
        return commit in self._numbers and not self.is_before(commit, base)

    def list_differing(self, base: str) -> dict[str, Change] | None:
        """Return how files differ from those of an older commit, by path; renames are not sought.

        None if a merge is between them, so that only git can say.
        """
        commits = self.list_after(base)
        if commits is None:
            return None
        changes: dict[str, Change] = {}
        for commit in reversed(commits):
            for change in self.changes_of(commit):
                if change.status == "R":
                    _add_change(changes, change._replace(status="D", path=change.old, after=""))
                    _add_change(changes, change._replace(status="A", old=change.path, before=""))
                else:
                    _add_change(changes, change)
        return {
            path: change
            for path, change in changes.items()
            if change.before != change.after or change.status == "T"
        }

    def find_new_name(self, path: str) -> str:
        """Return the new name of a file whose last removal was a rename; empty if it was none.

        Empty, too, if the file was removed in a merge.
        """
        for _, change in self._changes(_OF_PATH, (_bytes(path),)):
            if not change.merged and (change.path != path or change.status == "D"):
                return change.path if change.path != path else ""
        return ""

    def list_after(self, base: str) -> list[str] | None:
        """Return the commits after an older one, the newest first; None if one is a merge."""
        commits: list[str] = []
        commit = self.head
        for _ in range(_MOST_CHAIN):
            if commit == base:
                return commits
            row = self._query("SELECT parents FROM commits WHERE id = ?", (bytes.fromhex(commit),))
            parents = row[0][0] if row else b""
            if len(parents) != len(commit) // 2:
                return None
            commits.append(commit)
            commit = parents.hex()
        return None

    def _rows(self, sql: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
        """Return the rows of a query that are of commits which the head reaches."""
        return [row for row in self._query(sql, values) if self._is_reached(row[0])]

    def _is_reached(self, number: int) -> bool:
        return number <= self._last and number not in self._unreached

    def _query(self, sql: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
        damaged = False
        try:
            if self._history.opened() is self._base:
                return self._history.rows(sql, values)
        except IndexDamaged:
            damaged = True
        self._adopt(self._history.reopen(self.head, damaged=damaged))
        return self._history.rows(sql, values)

    def _adopt(self, commits_at: CommitsAt) -> None:
        """Use the database that took the place of the one before: numbers may be others."""
        self._base = commits_at._base
        self._last, self._unreached = commits_at._last, commits_at._unreached
        self._commits.clear()
        self._before.clear()
        for name in ("_graph", "_numbers", "_bottlenecks"):
            self.__dict__.pop(name, None)

    def _changes(self, sql: str, values: Sequence[object]) -> Iterator[tuple[_SortKey, Change]]:
        for row in self._rows(sql, values):
            status, old, path, before, after = row[_WIDTH:]
            name = _path(path)
            yield (-row[_WIDTH - 1], row[1]), Change(
                self._commit(row), status, name if old is None else _path(old), name, before.hex(),
                after.hex(),
            )  # fmt: skip

    def _commit(self, row: Sequence[Any]) -> Commit:
        if row[0] not in self._commits:
            n, commit, parents, written, made, name, mail, subject, body, people, request = row[:11]
            step = len(commit)
            ids = (parents[at : at + step].hex() for at in range(0, len(parents), step))
            authors, reviewers = json.loads(people) if people else ((), ())
            self._commits[n] = Commit(
                commit.hex(),
                tuple(ids),
                written,
                made,
                name,
                mail,
                subject,
                body,
                tuple(map(tuple, authors)),
                tuple(map(tuple, reviewers)),
                request,
            )
        return self._commits[row[0]]

    @cached_property
    def _graph(self) -> Mapping[int, CommitNode]:
        """The commits that are reached, by their numbers."""
        return {n: node for n, node in self._history.graph().items() if self._is_reached(n)}

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {node.id.hex(): n for n, node in self._graph.items()}

    @cached_property
    def _bottlenecks(self) -> list[_SortKey]:
        """The sort keys of commits that are after all older ones and before all newer ones."""
        keys: list[_SortKey] = []
        waiting: set[int] = set()
        for n in sorted(self._graph, key=lambda n: _sort_key(self._graph[n])):
            waiting.discard(n)
            node = self._graph[n]
            if not waiting:
                keys.append(_sort_key(node))
            if not node.parents:
                break  # newer than commits that it does not come from
            waiting.update(node.parents)
        return keys


_SortKey = tuple[int, bytes]
"""What commits are sorted by, the newest first: less its rank, and its id."""

_FIRST: _SortKey = (-(1 << 62), b"")

_WIDTH = _COLUMNS.count(",") + 1


def _sort_key(node: CommitNode) -> _SortKey:
    return -node.rank, node.id


def _add_change(changes: dict[str, Change], change: Change) -> None:
    """Add a newer change of a file to the older ones."""
    former = changes.get(change.path)
    before = change.before if former is None else former.before
    status = (
        "A" if not before else "D" if not change.after else "T" if change.status == "T" else "M"
    )
    changes[change.path] = change._replace(status=status, before=before)


def _bytes(path: str) -> bytes:
    """Return a path as git has it; one that no file can have if it can't be encoded."""
    try:
        return path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return b"\0"


def _path(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")


def is_below(path: str, folder: str) -> bool:
    """Tell whether a path is a folder, or in it; any is in the folder without a name."""
    return not folder or path == folder or path.startswith(f"{folder}/")
