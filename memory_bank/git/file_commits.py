"""The commits of the files of a folder: their dates, their changes, who brought them.

No state is an error: of a clone without git or commits, nothing is known; `limits` says what is not
known of a shallow or partial one.
"""

from __future__ import annotations

import json
import posixpath
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from memory_bank.base.documents import Committed
from memory_bank.base.errors import Busy, StorageFailed
from memory_bank.git import authorship, process, repository
from memory_bank.git.commits import Change, CommitsAt, is_below
from memory_bank.git.history import History
from memory_bank.git.log import LAST_SECOND
from memory_bank.git.process import LIMIT

_SHALLOW = "this is a shallow clone: what its oldest commits changed is not known"

_PARTIAL = "this is a partial clone: only renames of files with the same bytes are followed"

_NO_BRANCH = (
    "no default branch was found, so no commit counts as reviewed: set git's init.defaultBranch"
)

_NO_LINE = "git could not read the default branch: no commit counts as reviewed"

_UNREAD = "the commits are not all read yet: the next call goes on"

_MOST_RENAMES = 10
"""Maximum number of renames of one file that are followed."""

_FileDates = dict[str, Committed]
"""The commits of files by path."""


class FileCommits:
    """The commits of the files at or below some paths of a folder."""

    def __init__(
        self,
        folder: Path,
        history: Callable[[Path], History],
        paths: Sequence[str] = (".",),
        *,
        commit: str = "",
    ) -> None:
        """Read the history of the folder's repository, which `history` opens by its work tree.

        The commits end at `commit`, by default at HEAD.
        """
        self._folder = folder
        self._open = history
        self._history: History | None = None
        self._prefix = ""
        """The folder's path below the work tree with a slash; read for each change."""
        self._paths = tuple(paths)
        self._rev = commit
        self._at: CommitsAt | None = None
        self._files: _FileDates = {}
        self._unread = ""
        self._empty = False
        self._line: str | None = None
        """The tip of the default branch; empty if there is none, None if git can't list it."""
        self._refs: tuple[str, object] = "refs/heads/main", None
        """The default branch, and the state of its folder from before git was asked for it."""
        self._requests: dict[str, tuple[int, str] | None] = {}
        self._loaded = False
        self.remembered: dict[object, Any] = {}
        """What callers worked out from these commits; emptied as soon as they may be others."""
        self._look()

    @property
    def tree(self) -> Path | None:
        """The work tree that holds the folder."""
        return None if self._history is None else self._history.tree

    @property
    def at(self) -> CommitsAt | None:
        """The commits up to HEAD, as of the last refresh; None if they are not known."""
        self._load()
        return self._at

    @property
    def known(self) -> bool:
        """Whether the commits up to HEAD are known, as of the last refresh."""
        self._load()
        return self._at is not None and not self._unread

    @property
    def empty(self) -> bool:
        """Whether there are no commits, as of the last refresh."""
        return self._empty or self.tree is None

    @property
    def ends(self) -> frozenset[str]:
        """The commits of a shallow clone that only seem to have added every file."""
        return self._at.ends if self._at else frozenset()

    @property
    def limits(self) -> tuple[str, ...]:
        """What is not known, and why, as of the last refresh."""
        fields = {
            _SHALLOW: bool(self.ends),
            _PARTIAL: self._at is not None and self._at.partial,
            _NO_BRANCH: self._at is not None and self._line == "",
            _NO_LINE: self._at is not None and self._line is None,
            _UNREAD: bool(self._unread),
        }
        return tuple(text for text, applies in fields.items() if applies)

    @property
    def paths(self) -> Collection[str]:
        """The paths of all files that were ever committed."""
        self._load()
        return self._files.keys()

    @property
    def state(self) -> object:
        """Another object whenever the commits of any file may be others."""
        self._load()
        return self._files

    @property
    def blobs(self) -> Mapping[str, str]:
        """The object ids of the files in HEAD, by path."""
        self._load()
        return {path: committed.blob for path, committed in self._files.items() if committed.blob}

    def blob(self, path: str) -> str:
        """Return the object id of a file in HEAD; empty if it doesn't have it."""
        committed = self.of(path)
        return committed.blob if committed else ""

    def of(self, path: str) -> Committed | None:
        """Return when a file was committed; None if it never was."""
        self._load()
        return self._files.get(path)

    def same(self, data: bytes, blob: str) -> bool:
        """Tell whether bytes are the content of a blob, line ends aside."""
        return repository.hash_blob(data, bytes.fromhex(blob)).hex() == blob

    def changes(self, path: str) -> tuple[Change, ...]:
        """Return the changes of a file, the newest first; renames are followed.

        Paths outside of the folder start with a slash.
        """
        self._load()
        if self._at is None:
            return ()
        full = path[1:] if path.startswith("/") else self._prefix + path
        return tuple(map(self._inside, self._at.changes(full, self._prefix.rstrip("/"))))

    def since(self, when: float) -> Iterator[Change]:
        """Yield the changes that were written since a time, the newest first."""
        self._load()
        if self._at is not None:
            yield from map(self._inside, self._at.below(*self._wanted, since=when))

    def moved(self, paths: Collection[str], there: Callable[[str], bool]) -> dict[str, str]:
        """Map removed paths, below the work tree, to the names to which git moved them.

        Repeated renames are followed to the first name that is `there`; staged ones count, unless
        the history ends at another commit than HEAD.
        """
        self._load()
        if self._history is None or self._at is None or not paths:
            return {}
        staged = {} if self._rev else repository.staged_renames(self._history.tree)
        entries = {}
        for path in paths:
            name = path
            for _ in range(_MOST_RENAMES):
                name = staged.get(name) or self._at.renamed(name)
                if not name or there(name):
                    break
            if name and name != path and there(name):
                entries[path] = name
        return entries

    def brought(self, commit: str) -> tuple[int, str] | None:
        """Return the number of the pull request that brought a commit to the default branch.

        0 for none; beside it, the commit that did. None if the commit is not on the branch.
        """
        if commit not in self._requests:
            merge = self._history.brought(commit) if self._history and self._line else None
            self._requests[commit] = merge
        return self._requests[commit]

    def requested(self) -> bool:
        """Tell whether a pull request brought any commit of the files to the default branch."""
        ids = dict.fromkeys(change.commit.id for change in self.since(0))
        return any(brought[0] for brought in map(self.brought, ids) if brought)

    def lines(self, path: str, seconds: float) -> list[str] | None:
        """Return the commit of each line of a file as of HEAD; None if git can't say in time."""
        blob, changes = self.blob(path), self.changes(path)
        if self._history is None or self._at is None or not blob or not changes:
            return None
        where = self._prefix + path
        return self._history.lines(self._at.head, where, (blob, changes[0].commit.id), seconds)

    def kept(self, name: str) -> str:
        """Return a text that was kept of all files; empty if there is none."""
        return self._history.derived(self._key(name)) if self._history else ""

    def keep(self, name: str, value: str) -> None:
        """Keep a text of all files in place of the last one of that name."""
        if self._history is not None:
            self._history.derive(self._key(name), value)

    def refresh(self, *, again: bool = False, seconds: float = LIMIT) -> bool:
        """Read new commits if HEAD changed; tell whether the dates of any file changed.

        If no commit can be read in time, that HEAD is only tried `again`.
        """
        self._look()
        tree = self.tree
        head = (self._rev or repository.read_head_commit(tree)) if tree else ""
        self._empty = tree is None or (not head and not repository.find_problem(tree))
        if self._history is None or tree is None or not head:
            changed = self._empty and bool(self._files)
            if self._empty:
                self._at, self._files = None, {} if changed else self._files
                self.remembered.clear()
            return changed
        dates = self._files if self._loaded else self._kept()[1]
        commits_at, self._loaded = self._at, True
        if commits_at is not None and commits_at.head == head:
            return False
        commits = self._history.at(head, again=again, seconds=seconds)
        if commits is None:
            self._unread, self._files = head, dates
            return False
        files = self._dates(commits)
        if files is None:
            self._unread = head
            return False
        self._at, self._unread, self._files = commits, "", files
        self.remembered.clear()
        return files != dates

    def refresh_requests(self) -> None:
        """Read which pull requests brought the commits, if the default branch changed."""
        if self._history is None or self._at is None:
            return
        tree, (ref, state) = self._history.tree, self._refs
        refs_state = repository.refs_state(tree, ref)
        if state is not None and self._line is not None and state == refs_state:
            return
        new_ref, tip = authorship.default_ref(tree)
        same_folder = posixpath.dirname(new_ref) == posixpath.dirname(ref)
        self._refs = new_ref, refs_state if same_folder else None
        line = tip if not tip or self._history.read_line(tip) else None
        if line != self._line:
            self._line = line
            self._requests.clear()
            self.remembered.clear()

    def close(self) -> None:
        """Drop what is in memory."""
        self._forget()
        if self._history is not None:
            self._history.close()

    def _forget(self) -> None:
        self._at, self._files, self._loaded = None, {}, False
        self.remembered.clear()

    @property
    def _wanted(self) -> list[str]:
        return [
            (self._prefix + path if path != "." else self._prefix).rstrip("/")
            for path in self._paths
        ]

    def _key(self, name: str) -> str:
        return json.dumps([name, str(self._folder), self._rev, self._paths])

    def _look(self) -> None:
        """Find the repository, which may have been made or removed meanwhile."""
        tree = repository.find_worktree(self._folder)
        if tree != self.tree:
            if self._history is not None:
                self._history.close()
            self._history = None if tree is None else self._open(tree)
            self._prefix = repository.below_tree(tree, self._folder) if tree else ""
            self._forget()

    def _load(self) -> None:
        """Take what was read last."""
        if self._loaded:
            return
        self._loaded = True
        head, self._files = self._kept()
        if self._history is not None and head:
            self._at = self._history.known(head)

    def _kept(self) -> tuple[str, _FileDates]:
        """Return the dates of files that are kept, and the HEAD they are of."""
        try:
            head, files = json.loads(self.kept("dates") or '["", {}]')
            return str(head), {path: Committed(*file) for path, file in files.items()}
        except (Busy, StorageFailed, ValueError, TypeError, AttributeError):
            return "", {}

    def _dates(self, at: CommitsAt) -> _FileDates | None:
        """Return when files were committed; None if git can't list those of the commit in time."""
        head, files = self._kept()
        if head == at.head:
            return files
        between = at.chain(head) if head else None
        if between is None:
            pathspecs = (word or "." for word in self._wanted)
            words = ("ls-tree", "-r", "-z", at.head, "--", *pathspecs)
            listed = process.run(self.tree or self._folder, *words, seconds=LIMIT)
            if listed is None:
                return None
            changes = list(at.below(*self._wanted, merges=False))
            blobs = {path: blob.hex() for path, blob in repository.tree_blobs(listed)}
            files = self._fold({}, reversed(changes))
            files = {
                path: committed._replace(blob=blobs.get(self._prefix + path, ""))
                for path, committed in files.items()
            }
        else:
            new = [change for commit in reversed(between) for change in at.of(commit)]
            files = self._fold(files, new)
        self.keep("dates", json.dumps([at.head, files]))
        return files

    def _fold(self, files: _FileDates, changes: Iterator[Change] | list[Change]) -> _FileDates:
        """Return the dates of files after some changes, the oldest first."""
        dates = dict(files)
        entries = self._wanted
        for change in changes:
            old = change.old[len(self._prefix) :] if change.old.startswith(self._prefix) else ""
            if change.status in "RD" and old in dates:
                dates[old] = dates[old]._replace(blob="")
            path = change.path[len(self._prefix) :]
            ours = any(is_below(change.path, folder) for folder in entries)
            when = float(change.commit.written)
            if change.status == "D" or not ours or not 0 < when < LAST_SECOND:
                continue
            former = dates.get(old)
            first, last = former[:2] if former and old != path else (when, when)
            changed = last if change.status == "R" and change.before == change.after else when
            committed = dates.get(path, Committed(first, changed, ""))
            dates[path] = Committed(
                committed.first, max(committed.first, committed.last, changed), change.after
            )
        return dates

    def _inside(self, change: Change) -> Change:
        """Return a change with paths below the folder."""
        path = self._below(change.path)
        old = path if change.old == change.path else self._below(change.old)
        return Change(change.commit, change.status, old, path, change.before, change.after)

    def _below(self, path: str) -> str:
        inside = path[len(self._prefix) :] if path.startswith(self._prefix) else f"/{path}"
        if inside.isascii():
            return inside
        return inside.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
