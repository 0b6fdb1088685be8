"""The one history of a repository: its commits with their texts, and the files that each changed.

One database for all work trees and banks of the repository, in the user's cache. Commits never
change, so each is read once; after a commit, git is asked for the new one only. Limits: a partial
clone knows only renames of files with the same bytes; of the oldest commits of a shallow clone it
is not known what they changed (`CommitsAt.ends`).
"""

from __future__ import annotations

import json
import sqlite3
import time
from array import array
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from sqlite3 import Connection
from typing import Any

from memory_bank.base import sqlite
from memory_bank.base.errors import Busy, IndexDamaged, StorageFailed
from memory_bank.base.paths import private_folder
from memory_bank.git import authorship, process, repository
from memory_bank.git.authorship import LOG, CommitRecord, yield_commits
from memory_bank.git.commits import Change, CommitNode, CommitsAt, list_ancestors, yield_leaves

_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE people (
    n INTEGER PRIMARY KEY, name TEXT NOT NULL, mail TEXT NOT NULL, UNIQUE (name, mail)
);
CREATE TABLE commits (
    n INTEGER PRIMARY KEY AUTOINCREMENT, id BLOB NOT NULL UNIQUE, parents BLOB NOT NULL,
    rank INTEGER NOT NULL, written INTEGER NOT NULL, made INTEGER NOT NULL, who INTEGER NOT NULL,
    subject TEXT NOT NULL, body TEXT NOT NULL, words INTEGER NOT NULL, people TEXT NOT NULL,
    request INTEGER NOT NULL, size INTEGER NOT NULL
);
CREATE TABLE paths (n INTEGER PRIMARY KEY, path BLOB NOT NULL UNIQUE);
CREATE TABLE changes (
    path INTEGER NOT NULL, commit_n INTEGER NOT NULL, status TEXT NOT NULL, old INTEGER,
    before BLOB NOT NULL, after BLOB NOT NULL, PRIMARY KEY (path, commit_n)
) WITHOUT ROWID;
CREATE INDEX by_commit ON changes (commit_n);
CREATE INDEX by_old ON changes (old) WHERE old IS NOT NULL;
CREATE TABLE tips (
    head BLOB PRIMARY KEY, last INTEGER NOT NULL, others BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE mainline (
    commit_n INTEGER PRIMARY KEY, request INTEGER NOT NULL, merge_n INTEGER NOT NULL
);
CREATE TABLE blames (
    blob BLOB NOT NULL, commit_id BLOB NOT NULL, lines TEXT NOT NULL, PRIMARY KEY (blob, commit_id)
) WITHOUT ROWID;
CREATE TABLE derived (n INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, value TEXT NOT NULL)
"""

_VERSION = 2

SECONDS = process.LIMIT
"""Time after which the rest is left to the next call."""

_MERGE_SECONDS = 20.0

BATCH = 1000
"""Number of commits that are stored at once."""

_KEPT_TIPS = 32
"""Number of heads of which is kept what they reach."""

MOST_OTHERS = 20_000
"""If a head does not reach this many commits more than it reaches, those are removed."""

_KEPT_TEXTS = 64
"""Number of texts that are kept, of work trees and revisions."""

_RENAMES = ("--find-renames", "-l500")
"""With more added or removed files in a commit, only those with the same bytes are compared:
comparing the others takes time that grows with its square."""

_EXACT = ("--find-renames=100%",)
"""Finds renames by the ids of blobs, so that none is read."""

Gate = Callable[[Sequence[str]], Sequence[str]]
"""Returns texts without the secrets in them."""


Extent = tuple[bool, str, str]
"""What decides how commits look: if it differs, all are read again. Whether blobs are missing, the
commits whose parents are missing, one a line, and grafts and replaced objects."""


def read_extent(tree: Path) -> Extent:
    """Read the extent from files of the repository; no process is started."""
    common = repository.common_folder(tree)
    if common is None:
        return False, "", ""
    replaced = [_read_file(common / "info/grafts")]
    replaced += [
        line for line in _read_file(common / "packed-refs").splitlines() if "refs/replace/" in line
    ]
    folder = common / "refs/replace"
    if folder.is_dir():
        replaced += sorted(f"{path.name} {_read_file(path)}" for path in folder.iterdir())
    shallow = _read_file(common / "shallow")
    return repository.is_partial(tree), shallow, "\n".join(replaced).strip()


def _read_file(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


class History(sqlite.OpenedCache):
    """The commits of a repository; the database can be deleted at any time.

    If it can't be written, commits are kept in memory, for this process.
    """

    def __init__(self, tree: Path, gate: Gate = list, file: Path | None = None) -> None:
        """Read the repository of a work tree; open nothing yet. `gate` removes secrets."""
        super().__init__(
            file or repository.repository_cache(tree) / "history.db", _TABLES, _VERSION
        )
        self.tree = tree
        self._gate = gate
        self._graph: tuple[Connection, int, dict[int, CommitNode]] | None = None
        self._memory = False

    def at(self, head: str, *, again: bool = False, seconds: float = SECONDS) -> CommitsAt | None:
        """Return the commits that lead to a commit, given by its full id.

        What is not known yet is read first. None if git can't say in time, or there is no such
        commit: the next call goes on. If not a single commit can be read, it is only tried `again`,
        or with more time.
        """
        if not repository.COMMIT_ID.fullmatch(head):
            return None
        for _ in range(2):
            try:
                with sqlite.convert_errors(self.file):
                    return self._read_up_to(head, again, seconds)
            except IndexDamaged:
                self.discard()
            except (Busy, StorageFailed):
                if self._memory:
                    return None
                self.close()
                self._memory = True  # a folder or a disk that can't be written
        return None

    def rows(self, sql: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Run a query; raise IndexDamaged, Busy or StorageFailed."""
        with sqlite.convert_errors(self.file):
            return self.opened().execute(sql, values).fetchall()

    def _try_to_write(self, sql: str, values: Sequence[object]) -> None:
        """Keep what was computed; if that fails, it is computed again."""
        try:
            with sqlite.convert_errors(self.file):
                self.opened().execute(sql, values)
        except (IndexDamaged, Busy, StorageFailed):
            return

    def load_text(self, key: str) -> str:
        """Return a text that was computed from the commits; empty if none is kept."""
        rows = self.rows("SELECT value FROM derived WHERE key = ?", (key,))
        return str(rows[0][0]) if rows else ""

    def save_text(self, key: str, value: str) -> None:
        """Keep a text that was computed from the commits, and the newest others."""
        self._try_to_write(
            "INSERT OR REPLACE INTO derived (key, value) VALUES (?, ?)", (key, value)
        )
        newest = "SELECT n FROM derived ORDER BY n DESC LIMIT ?"
        self._try_to_write(f"DELETE FROM derived WHERE n NOT IN ({newest})", (_KEPT_TEXTS,))

    def at_known(self, head: str) -> CommitsAt | None:
        """Return the commits that lead to a commit, if they are known; nothing is read."""
        try:
            with sqlite.convert_errors(self.file):
                return self._read_tip(self.opened(), head, read_extent(self.tree))
        except (IndexDamaged, Busy, StorageFailed, ValueError):
            return None

    def blame_lines(
        self, head: str, path: str, key: tuple[str, str], seconds: float
    ) -> list[str] | None:
        """Return the commit of each line of a file at a commit; None if git can't say in time.

        It is kept by `key`, the file's blob and the last commit that changed it.
        """
        values = tuple(map(bytes.fromhex, key))
        rows = self.rows("SELECT lines FROM blames WHERE blob = ? AND commit_id = ?", values)
        if rows:
            return str(rows[0][0]).split()
        origins = authorship.blame_lines(self.tree, head, path, seconds) if seconds > 0 else None
        if origins is not None:
            row = (*values, " ".join(origins))
            self._try_to_write("INSERT OR REPLACE INTO blames VALUES (?, ?, ?)", row)
        return origins

    def find_request(self, commit: str) -> tuple[int, str] | None:
        """Return the pull request by which a commit came to the branch of the last `read_mainline`.

        That is its number, 0 for none, and the commit on the first-parent line of the branch that
        brought it. None if the commit is not on the branch.
        """
        sql = (
            "SELECT m.request, c.id FROM mainline m JOIN commits c ON c.n = m.merge_n"
            " WHERE m.commit_n = (SELECT n FROM commits WHERE id = ?)"
        )
        rows = self.rows(sql, (bytes.fromhex(commit),))
        return (int(rows[0][0]), rows[0][1].hex()) if rows else None

    def read_mainline(self, tip: str) -> bool:
        """Read which merge brought each commit to the branch with a tip; False if git can't say."""
        at = self.at(tip)
        if at is None:
            return False
        try:
            with sqlite.convert_errors(self.file):
                self._store_mainline(self.opened(), tip, at.ends)
        except (IndexDamaged, Busy, StorageFailed):
            return False
        return True

    def _store_mainline(self, base: Connection, tip: str, ends: Collection[str]) -> None:
        row = base.execute("SELECT value FROM meta WHERE key = 'line'").fetchone()
        if row is not None and row[0] == tip:
            return
        graph, requests = self.graph(), dict(base.execute("SELECT n, request FROM commits"))
        line = [next(n for n, node in graph.items() if node.id.hex() == tip)]
        while graph[line[-1]].parents:
            line.append(graph[line[-1]].parents[0])
        merges: dict[int, tuple[int, int]] = {}
        # the oldest first: each commit is of the merge that brought it
        for merge in reversed(line):
            request = 0 if graph[merge].id.hex() in ends else requests[merge]
            waiting = [merge]
            while waiting:
                commit = waiting.pop()
                if commit not in merges:
                    merges[commit] = request, merge
                    waiting += graph[commit].parents
        with sqlite.transaction(base):
            base.execute("DELETE FROM mainline")
            rows = ((commit, *request_merge) for commit, request_merge in merges.items())
            base.executemany("INSERT INTO mainline VALUES (?, ?, ?)", rows)
            base.execute("INSERT OR REPLACE INTO meta VALUES ('line', ?)", (tip,))

    def current(self) -> bool:
        """Tell whether the open database is the one to use."""
        return (self._memory and self._base is not None) or super().current()

    def _connect(self) -> Connection:
        if not self._memory:
            private_folder(self.file.parent)
            return super()._connect()
        base = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        for statement in _TABLES.split(";\n"):
            base.execute(statement)
        return base

    def discard(self) -> None:
        """Remove the database; the commits are read again when they are asked for."""
        self.close()
        if not self._memory:
            try:
                sqlite.remove(self.file)
            except StorageFailed:
                self._memory = True

    def _read_up_to(self, head: str, again: bool, seconds: float) -> CommitsAt | None:  # noqa: FBT001
        extent = read_extent(self.tree)
        base = self.opened()
        self._check_extent(base, extent)
        commits_at = self._read_tip(base, head, extent)
        if commits_at is not None:
            return commits_at
        row = base.execute("SELECT value FROM meta WHERE key = 'refused'").fetchone()
        refused, _, last_seconds = row[0].partition(" ") if row else ("", "", "")
        if refused == head and seconds <= float(last_seconds or "inf") and not again:
            return None
        if not self._fill(base, head, extent, seconds):
            return None
        self._store_tip(base, bytes.fromhex(head))
        return self._read_tip(base, head, extent)

    def _read_tip(self, base: Connection, head: str, extent: Extent) -> CommitsAt | None:
        sql = "SELECT last, others FROM tips WHERE head = ?"
        row = base.execute(sql, (bytes.fromhex(head),)).fetchone()
        if row is None:
            return None
        try:
            unreached = frozenset(array("I", row[1]))
        except ValueError as error:
            raise IndexDamaged(f"a row of {self.file} is damaged", "it is rebuilt") from error
        partial, shallow, _ = extent
        ends = frozenset(shallow.split())
        return CommitsAt(self, head, int(row[0]), unreached, ends=ends, partial=partial)

    def reopen(self, head: str, *, damaged: bool) -> CommitsAt:
        """Read again what leads to a commit, as the database was replaced or is damaged.

        Raises StorageFailed if git can't say in time.
        """
        if damaged:
            self.discard()
        commits_at = self.at(head, again=True)
        if commits_at is None:
            raise StorageFailed(f"{self.file} can't be made again", "try the command again")
        return commits_at

    def _check_extent(self, base: Connection, extent: Extent) -> None:
        """Remove all commits if they look otherwise now."""
        text = json.dumps(extent)
        row = base.execute("SELECT value FROM meta WHERE key = 'extent'").fetchone()
        if row is not None and row[0] == text:
            return
        with sqlite.transaction(base):
            for table in ("commits", "changes", "tips", "mainline", "blames", "derived", "meta"):
                base.execute(f"DELETE FROM {table}")
            base.execute("INSERT INTO meta VALUES ('extent', ?)", (text,))
        self._graph = None

    def _fill(self, base: Connection, head: str, extent: Extent, seconds: float) -> bool:
        """Read the commits before a head that are not known; tell whether all are known now."""
        end = time.monotonic() + seconds
        for renames in (_EXACT,) if extent[0] else (_RENAMES, _EXACT):
            graph = self.graph()
            if self._knows(base, head):
                return True
            revisions = "\n".join([head, *(f"^{leaf}" for leaf in yield_leaves(graph)), ""])
            left = max(end - time.monotonic(), seconds / 2)
            output = process.yield_output(
                self.tree, *LOG, "--ignore-missing", "--stdin", "--topo-order", "--reverse", "-c",
                *renames, given=revisions.encode(), seconds=left,
            )  # fmt: skip
            try:
                with closing(output):
                    self._store(base, yield_commits(output))
            except process.GitFailed:
                if len(self.graph()) > len(graph):
                    return False  # the next call goes on
                continue  # a commit may have too many files to compare
            return self._knows(base, head)
        if not repository.find_problem(self.tree):  # else `safe.directory`, say, may mend it
            refused = f"{head} {seconds}"
            base.execute("INSERT OR REPLACE INTO meta VALUES ('refused', ?)", (refused,))
        return False

    def _knows(self, base: Connection, head: str) -> bool:
        sql = "SELECT 1 FROM commits WHERE id = ?"
        return base.execute(sql, (bytes.fromhex(head),)).fetchone() is not None

    def _store(self, base: Connection, records: Iterator[CommitRecord]) -> None:
        """Store commits, the oldest first, also those before git failed."""
        failed: process.GitFailed | None = None
        while failed is None:
            batch: list[CommitRecord] = []
            try:
                for record in records:
                    batch.append(record)
                    if len(batch) == BATCH:
                        break
            except process.GitFailed as error:
                failed = error
            if not batch:
                break
            self._put_batch(base, batch)
        if failed is not None:
            raise failed

    def _put_batch(self, base: Connection, batch: Sequence[CommitRecord]) -> None:
        commits = [commit for commit, _, _ in batch]
        texts = self._gate([text for commit in commits for text in (commit.subject, commit.body)])
        people = {(commit.author, commit.mail) for commit in commits}
        paths = {
            path for _, _, changes in batch for change in changes for path in change[1:3] if path
        }
        with sqlite.transaction(base):
            base.executemany("INSERT OR IGNORE INTO people (name, mail) VALUES (?, ?)", people)
            base.executemany(
                "INSERT OR IGNORE INTO paths (path) VALUES (?)", ((path,) for path in paths)
            )
            ranks: dict[bytes, int] = {}
            for number, (commit, words, changes) in enumerate(batch):
                commit_id, *parents = map(bytes.fromhex, (commit.id, *commit.parents))
                rank = max([commit.made, *(1 + self._rank(base, ranks, p) for p in parents)])
                ranks[commit_id] = rank
                has_people = commit.co_authors or commit.reviewers
                row = (
                    commit_id,
                    b"".join(parents),
                    rank,
                    commit.written,
                    commit.made,
                    commit.author,
                    commit.mail,
                    texts[2 * number],
                    texts[2 * number + 1],
                    words,
                    json.dumps([commit.co_authors, commit.reviewers]) if has_people else "",
                    commit.request,
                    len(changes),
                )
                if base.execute(_COMMIT, row).rowcount:  # else another process was first
                    rows = (
                        (path, commit_id, status, old, before, after)
                        for status, old, path, before, after in changes
                    )
                    base.executemany(_CHANGE, rows)

    def _rank(self, base: Connection, ranks: Mapping[bytes, int], commit: bytes) -> int:
        if commit in ranks:
            return ranks[commit]
        row = base.execute("SELECT rank FROM commits WHERE id = ?", (commit,)).fetchone()
        return int(row[0]) if row else 0

    def graph(self) -> Mapping[int, CommitNode]:
        """Return all known commits with their parents, by their numbers, parents first."""
        base = self.opened()
        (last,) = base.execute("SELECT coalesce(max(n), 0) FROM commits").fetchone()
        if self._graph is None or self._graph[:2] != (base, last):
            rows = base.execute("SELECT n, id, parents, rank FROM commits ORDER BY rank, id")
            commit_nodes, numbers = dict[int, CommitNode](), dict[bytes, int]()
            for n, commit, parents, rank in rows:
                numbers[commit] = n
                step = len(commit)
                ids = (parents[at : at + step] for at in range(0, len(parents), step))
                commit_nodes[n] = CommitNode(
                    commit,
                    tuple(numbers[commit_id] for commit_id in ids if commit_id in numbers),
                    rank,
                )
            self._graph = base, last, commit_nodes
        return self._graph[2]

    def _remove(self, base: Connection, numbers: Collection[int]) -> None:
        """Remove commits of other branches, and of histories that were rewritten."""
        with sqlite.transaction(base):
            for table in ("tips", "mainline"):
                base.execute(f"DELETE FROM {table}")
            base.execute("DELETE FROM meta WHERE key = 'line'")
            rows = [(number,) for number in numbers]
            base.executemany("DELETE FROM changes WHERE commit_n = ?", rows)
            base.executemany("DELETE FROM commits WHERE n = ?", rows)
        self._graph = None

    def _store_tip(self, base: Connection, head: bytes) -> None:
        """Store which commits a head reaches."""
        graph = self.graph()
        (start,) = base.execute("SELECT n FROM commits WHERE id = ?", (head,)).fetchone()
        reached = list_ancestors(graph, start)
        unreached = array("I", sorted(graph.keys() - reached))
        if len(unreached) > MOST_OTHERS + len(reached):
            self._remove(base, unreached)
            unreached = array("I")
        last = max(graph)
        with sqlite.transaction(base):
            base.execute(
                "INSERT OR REPLACE INTO tips VALUES (?, ?, ?)", (head, last, unreached.tobytes())
            )
            newest = "SELECT head FROM tips ORDER BY last DESC, head = ? DESC LIMIT ?"
            base.execute(f"DELETE FROM tips WHERE head NOT IN ({newest})", (head, _KEPT_TIPS))


def merge_changes(
    tree: Path, at: CommitsAt, paths: Sequence[str], *, since: str = ""
) -> list[Change]:
    """Return the changes of files by the merges among the first parents of a head.

    The newest are first; renames are not sought. `since` leaves out a commit and those before it.
    """
    revisions = [at.head, *([f"^{since}"] if since else [])]
    output = process.yield_output(
        tree, *LOG, "--first-parent", "-m", "--merges", "--no-renames", *revisions, "--", *paths,
        seconds=_MERGE_SECONDS,
    )  # fmt: skip
    changes = []
    try:
        with closing(output):
            for read, _, commit_changes in yield_commits(output):
                if (commit := at.commit(read.id)) is None:
                    continue
                for status, _, path, before, after in commit_changes:
                    name = path.decode("utf-8", "surrogateescape")
                    changes.append(Change(commit, status, name, name, before.hex(), after.hex()))
    except process.GitFailed:
        return []
    return changes


_COMMIT = (
    "INSERT OR IGNORE INTO commits (id, parents, rank, written, made, who, subject, body, words,"
    " people, request, size) VALUES (?, ?, ?, ?, ?,"
    " (SELECT n FROM people WHERE name = ? AND mail = ?), ?, ?, ?, ?, ?, ?)"
)

_CHANGE = (
    "INSERT OR IGNORE INTO changes VALUES ((SELECT n FROM paths WHERE path = ?),"
    " (SELECT n FROM commits WHERE id = ?), ?, (SELECT n FROM paths WHERE path = ?), ?, ?)"
)
