"""The commits that changed each file of a folder, cached by HEAD; only new commits are read.

Limits: of the oldest commits of a shallow clone it is not known what they changed (`limits` says
so), a partial clone knows only renames of files with the same bytes, and a clone without git or
commits knows nothing. No state is an error.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from memory_bank.base import sqlite
from memory_bank.base.errors import Busy, IndexDamaged, StorageFailed
from memory_bank.git import authorship, history, repository
from memory_bank.git.authorship import Mainline
from memory_bank.git.history_rows import FORMAT, FileChange, FileCommit, Person, below, parsed
from memory_bank.git.process import LIMIT, run

_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE commits (
    place INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, facts TEXT NOT NULL, changes TEXT NOT NULL
);
CREATE TABLE mainline (id TEXT PRIMARY KEY, request INTEGER NOT NULL, merge_id TEXT NOT NULL);
CREATE TABLE blames (key TEXT PRIMARY KEY, lines TEXT NOT NULL) WITHOUT ROWID
"""

_VERSION = 3

_SHALLOW = "this is a shallow clone: what its oldest commits changed is not known"

_PARTIAL = "this is a partial clone: only renames of files with the same bytes are followed"

_NO_BRANCH = (
    "no default branch was found, so no commit counts as reviewed: set memory.default_branch"
)

_UNREAD = "git could not list the commits in time: an update of the index asks again"


class _State(NamedTuple):
    """All that was read: commits and their changes, the newest first."""

    key: str = ""
    commits: tuple[tuple[FileCommit, tuple[tuple[str, str, str], ...]], ...] = ()
    ends: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()
    mainline: Mainline = Mainline()
    blobs: Mapping[str, str] = MappingProxyType({})


class Kept(NamedTuple):
    """A result for all files, computed from the commits in a state."""

    state: str = ""
    files: Mapping[str, Sequence[str]] = MappingProxyType({})
    """By path."""


class FileCommits:
    """The commits of the files of a folder, cached in a database and in memory."""

    def __init__(
        self,
        folder: Path,
        file: Callable[[], Path],
        paths: Sequence[str] = (".",),
        branch: str = "",
        commit: str = "",
    ) -> None:
        """Read the commits of the files at or below `paths` of `folder`.

        `file` returns the path of the cache. `branch` is the branch into which pull requests are
        merged; if empty, it is found (see `pull_requests.default_branch`). The commits end at
        `commit`, by default at HEAD.
        """
        self._folder = folder
        self._file = file
        self._paths = tuple(paths)
        self._branch = branch
        self._rev = commit or "HEAD"
        self._state: _State | None = None
        self._by_path: Mapping[str, Sequence[tuple[int, FileChange]]] | None = None
        self._kept: Kept | None = None
        self._blames: dict[str, list[str]] | None = None
        self._unread = ""
        self._empty = False

    @property
    def limits(self) -> tuple[str, ...]:
        """What is not known, and why, as of the last refresh."""
        state = self._loaded()
        unread = (_UNREAD,) if self._unread else ()
        return (*state.notes, *unread)

    @property
    def ends(self) -> frozenset[str]:
        """The commits of a shallow clone that only seem to have added every file."""
        return self._loaded().ends

    @property
    def mainline(self) -> Mainline:
        """The commits of the default branch, and the pull requests that brought them."""
        return self._loaded().mainline

    @property
    def tree(self) -> Path | None:
        """The work tree that holds the folder."""
        return repository.worktree(self._folder)

    @property
    def blobs(self) -> Mapping[str, str]:
        """The object ids of the files in HEAD, by path, as of the last refresh."""
        return self._loaded().blobs

    @property
    def known(self) -> bool:
        """Whether the commits up to HEAD are known, or there are none, as of the last refresh."""
        return self._empty or (bool(self._loaded().key) and not self._unread)

    @property
    def key(self) -> str:
        """A text that differs if other commits are known."""
        return self._loaded().key

    def paths(self) -> Iterable[str]:
        """Return the paths of all files that any commit changed."""
        return self._index().keys()

    def since(self, when: float) -> Iterable[FileChange]:
        """Yield the changes that were written since a time, those of the newest commit first."""
        for commit, changes in self._loaded().commits:
            if commit.time >= when:
                for status, old, path in changes:
                    yield FileChange(commit, status, old, path)

    def of(self, path: str) -> tuple[FileChange, ...]:
        """Return the changes of a file, the newest first; renames are followed."""
        found: list[FileChange] = []
        name, since = path, -1
        while True:
            renamed = ""
            for place, change in self._index().get(name, ()):
                if place <= since:
                    continue
                if change.path != name or (change.status == "D" and found):
                    return tuple(found)  # an older file that had this name
                found.append(change)
                if change.status == "R" and change.old != name:
                    renamed, since = change.old, place
                    break
            if not renamed:
                return tuple(found)
            name = renamed

    def lines(self, path: str, seconds: float) -> list[str] | None:
        """Return the commit of each line of a file as of HEAD; None if git can't say in time."""
        tree = self.tree
        commits = [change.commit.id for change in self.of(path)]
        if tree is None or not commits or path not in self.blobs:
            return None
        key = f"{self.blobs[path]} {commits[0]}"
        if self._blames is None:
            self._blames = _blames(self._file())
        if key not in self._blames:
            prefix = repository.below_tree(tree, self._folder)
            found = (
                authorship.lines(tree, self._rev, prefix + path, seconds) if seconds > 0 else None
            )
            if found is None:
                return None
            self._blames[key] = found
            _write(
                self._file(), "INSERT OR REPLACE INTO blames VALUES (?, ?)", (key, " ".join(found))
            )
        return self._blames[key]

    def kept(self) -> Kept:
        """Return the last result that was kept."""
        if self._kept is None:
            self._kept = _kept(self._file())
        return self._kept

    def keep(self, found: Kept) -> None:
        """Keep a result for all files in place of the last one."""
        self._kept = found
        _write(
            self._file(), "INSERT OR REPLACE INTO meta VALUES (?, ?)", ("kept", json.dumps(found))
        )

    def refresh(self, *, again: bool = False, seconds: float = LIMIT) -> bool:
        """Read new commits if HEAD or the default branch changed; tell whether anything did.

        After a failure, the same commit is only read with `again`.
        """
        tree = repository.worktree(self._folder)
        extent = history.extent(tree, rev=self._rev) if tree else None
        self._empty = tree is None or (extent is None and not repository.problem(tree))
        if self._empty:  # what is cached is of a repository that is gone
            self._state, self._by_path = _State(), None
        if tree is None or extent is None:
            return False
        tip = authorship.default_branch(tree, self._branch)
        key = json.dumps([extent.key, tip, list(self._paths)])
        had = self._loaded()
        if had.key == key or (self._unread == key and not again):
            return False
        found = self._read(tree, extent, tip, had, seconds)
        if found is None:
            self._unread = key
            return False
        self._unread = ""
        self._save(found._replace(key=key))
        return True

    def close(self) -> None:
        """Drop what is in memory."""
        self._state = self._by_path = self._blames = self._kept = None

    def _loaded(self) -> _State:
        if self._state is None:
            cached = _load(self._file()) if repository.worktree(self._folder) else None
            self._state = cached or _State()
        return self._state

    def _index(self) -> Mapping[str, Sequence[tuple[int, FileChange]]]:
        """Return the changes of each path, the newest first, with the places of their commits."""
        if self._by_path is None:
            found: dict[str, list[tuple[int, FileChange]]] = {}
            for place, (commit, changes) in enumerate(self._loaded().commits):
                for status, old, path in changes:
                    change = FileChange(commit, status, old, path)
                    for name in {old, path}:
                        found.setdefault(name, []).append((place, change))
            self._by_path = found
        return self._by_path

    def _read(
        self, tree: Path, extent: history.Extent, tip: str, had: _State, seconds: float
    ) -> _State | None:
        """Read the commits that are not known yet; None if git can't say in time."""
        before = _key_parts(had.key)
        same = before[2:] == (list(self._paths),) and had.ends == extent.ends
        base = before[0].split(" ")[0] if same and before[0] else ""
        if base and run(tree, "merge-base", "--is-ancestor", base, extent.head) is None:
            base = ""  # another branch, or a rewritten history
        prefix = repository.below_tree(tree, self._folder)
        wanted = [prefix + path if path != "." else prefix or "." for path in self._paths]
        log = run(
            tree, "-c", "trailer.separators=:", "log", *repository.ORDINARY, "--topo-order",
            "--full-history", "-c", "--encoding=UTF-8", FORMAT, "-z", "--name-status",
            repository.renames_option(tree, "--find-renames=100%"), extent.head,
            *([f"^{base}"] if base else []), "--", *wanted, seconds=seconds,
        )  # fmt: skip
        listed = run(tree, "ls-tree", "-r", "-z", extent.head, "--", *wanted)
        if log is None or listed is None:
            return None
        blobs = {
            below(path, prefix): name.hex()
            for path, name in repository.tree_blobs(listed)
            if path.startswith(prefix)
        }
        new = tuple(parsed(log, prefix))
        ids = {commit.id for commit, _ in new}
        older = tuple(one for one in had.commits if one[0].id not in ids) if base else ()
        main = authorship.mainline(tree, tip, extent.ends)
        notes = [_SHALLOW] * bool(extent.ends) + [_PARTIAL] * extent.partial
        if not tip:
            notes.append(_NO_BRANCH)
        elif main is None:
            notes.append("git could not read the default branch: no commit counts as reviewed")
        every = (*new, *older)
        kept = (main or Mainline()).only({commit.id for commit, _ in every})
        return _State("", every, extent.ends, tuple(notes), kept, blobs)

    def _save(self, state: _State) -> None:
        self._state, self._by_path = state, None
        file = self._file()
        about = {"key": state.key, "ends": sorted(state.ends), "notes": state.notes,
                 "tip": state.mainline.tip}  # fmt: skip
        rows = [
            (place, commit.id, json.dumps(commit), json.dumps(changes))
            for place, (commit, changes) in enumerate(state.commits)
        ]
        try:
            base = sqlite.connect_cache(file, _TABLES, _VERSION)
            with sqlite.guarded(file), sqlite.transaction(base):
                for table in ("commits", "mainline", "meta WHERE key != 'kept'"):
                    base.execute(f"DELETE FROM {table}")
                base.executemany("INSERT INTO commits VALUES (?, ?, ?, ?)", rows)
                base.executemany(
                    "INSERT INTO mainline VALUES (?, ?, ?)",
                    [(one, *how) for one, how in state.mainline.commits.items()],
                )
                base.execute("INSERT INTO meta VALUES ('about', ?)", (json.dumps(about),))
                blobs = json.dumps(dict(state.blobs))
                base.execute("INSERT INTO meta VALUES ('blobs', ?)", (blobs,))
            base.close()
        except (IndexDamaged, Busy, StorageFailed):
            return  # in memory only


def _load(file: Path) -> _State | None:
    """Read the cache; None if there is none that can be read."""
    if not file.exists():
        return None
    try:
        base = sqlite.connect(file, _TABLES, _VERSION, make=False)
        with sqlite.guarded(file):
            row = base.execute("SELECT value FROM meta WHERE key = 'about'").fetchone()
            rows = base.execute("SELECT facts, changes FROM commits ORDER BY place").fetchall()
            blobs = base.execute("SELECT value FROM meta WHERE key = 'blobs'").fetchone()
            main = base.execute("SELECT id, request, merge_id FROM mainline").fetchall()
        base.close()
        about = json.loads(row[0]) if row else {}
        commits = tuple((_commit(json.loads(facts)), _changes(text)) for facts, text in rows)
        return _State(
            str(about["key"]), commits, frozenset(about["ends"]), tuple(about["notes"]),
            Mainline(str(about["tip"]), {one: (int(number), by) for one, number, by in main}),
            json.loads(blobs[0]),
        )  # fmt: skip
    except (IndexDamaged, Busy, StorageFailed, ValueError, KeyError, TypeError):
        return None  # git is read again


def _blames(file: Path) -> dict[str, list[str]]:
    """Read the commits of lines that are cached."""
    try:
        base = sqlite.connect_cache(file, _TABLES, _VERSION)
        with sqlite.guarded(file):
            rows = base.execute("SELECT key, lines FROM blames").fetchall()
        base.close()
        return {key: text.split() for key, text in rows}
    except (IndexDamaged, Busy, StorageFailed):
        return {}


def _kept(file: Path) -> Kept:
    """Read the result that `keep` wrote."""
    try:
        base = sqlite.connect_cache(file, _TABLES, _VERSION)
        with sqlite.guarded(file):
            row = base.execute("SELECT value FROM meta WHERE key = 'kept'").fetchone()
        base.close()
        return Kept(*json.loads(row[0])) if row else Kept()
    except (IndexDamaged, Busy, StorageFailed, ValueError, TypeError):
        return Kept()


def _write(file: Path, sql: str, row: tuple[str, str]) -> None:
    try:
        base = sqlite.connect_cache(file, _TABLES, _VERSION)
        with sqlite.guarded(file):
            base.execute(sql, row)
        base.close()
    except (IndexDamaged, Busy, StorageFailed):
        return  # in memory only


def _commit(facts: Sequence[object]) -> FileCommit:
    commit = FileCommit(*facts)  # type: ignore[arg-type]
    return commit._replace(
        parents=tuple(commit.parents),
        co_authors=tuple(Person(*one) for one in commit.co_authors),
        reviewers=tuple(Person(*one) for one in commit.reviewers),
    )


def _changes(text: str) -> tuple[tuple[str, str, str], ...]:
    return tuple((status, old, path) for status, old, path in json.loads(text))


def _key_parts(key: str) -> tuple[str, str, list[str]]:
    try:
        extent, tip, paths = json.loads(key)
    except (ValueError, TypeError):
        return "", "", []
    return str(extent), str(tip), list(paths)
