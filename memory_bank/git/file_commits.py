"""The commits of the files of a folder: their dates, their changes, who brought them.

No state is an error: of a clone without git or commits, nothing is known; `limits` says what is not
known of a shallow or partial one.
"""

from __future__ import annotations

import json
import posixpath
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from memory_bank.base.documents import Committed
from memory_bank.base.errors import Busy, StorageFailed
from memory_bank.git import authorship, process, repository
from memory_bank.git.authorship import LAST_SECOND
from memory_bank.git.commits import Change, CommitsAt, is_below
from memory_bank.git.history import History
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
        self._end = commit
        self._commits: CommitsAt | None = None
        self._dates: _FileDates = {}
        self._unread_head = ""
        self._has_none = False
        self._default_tip: str | None = None
        """The tip of the default branch; empty if there is none, None if git can't list it."""
        self._refs: tuple[str, object] = "refs/heads/main", None
        """The default branch, and the state of its folder from before git was asked for it."""
        self._requests: dict[str, tuple[int, str] | None] = {}
        self._loaded = False
        self.remembered: dict[object, Any] = {}
        """What callers worked out from these commits; emptied as soon as they may be others."""
        self._find_repository()

    @property
    def tree(self) -> Path | None:
        """The work tree that holds the folder."""
        return None if self._history is None else self._history.tree

    @property
    def commits(self) -> CommitsAt | None:
        """The commits up to HEAD, as of the last refresh; None if they are not known."""
        self._load()
        return self._commits

    @property
    def is_known(self) -> bool:
        """Whether the commits up to HEAD are known, as of the last refresh."""
        self._load()
        return self._commits is not None and not self._unread_head

    @property
    def is_empty(self) -> bool:
        """Whether there are no commits, as of the last refresh."""
        return self._has_none or self.tree is None

    @property
    def ends(self) -> frozenset[str]:
        """The commits of a shallow clone that only seem to have added every file."""
        return self._commits.ends if self._commits else frozenset()

    @property
    def limits(self) -> tuple[str, ...]:
        """What is not known, and why, as of the last refresh."""
        notices = {
            _SHALLOW: bool(self.ends),
            _PARTIAL: self._commits is not None and self._commits.partial,
            _NO_BRANCH: self._commits is not None and self._default_tip == "",
            _NO_LINE: self._commits is not None and self._default_tip is None,
            _UNREAD: bool(self._unread_head),
        }
        return tuple(text for text, applies in notices.items() if applies)

    @property
    def paths(self) -> Collection[str]:
        """The paths of all files that were ever committed."""
        self._load()
        return self._dates.keys()

    @property
    def state(self) -> object:
        """Another object whenever the commits of any file may be others."""
        self._load()
        return self._dates

    @property
    def blobs(self) -> Mapping[str, str]:
        """The object ids of the files in HEAD, by path."""
        self._load()
        return {path: committed.blob for path, committed in self._dates.items() if committed.blob}

    def blob(self, path: str) -> str:
        """Return the object id of a file in HEAD; empty if it doesn't have it."""
        committed = self.dates_of(path)
        return committed.blob if committed else ""

    def dates_of(self, path: str) -> Committed | None:
        """Return when a file was committed; None if it never was."""
        self._load()
        return self._dates.get(path)

    def is_content_of(self, data: bytes, blob: str) -> bool:
        """Tell whether bytes are the content of a blob, line ends aside."""
        return repository.hash_blob(data, bytes.fromhex(blob)).hex() == blob

    def changes(self, path: str) -> tuple[Change, ...]:
        """Return the changes of a file, the newest first; renames are followed.

        Paths outside of the folder start with a slash.
        """
        self._load()
        if self._commits is None:
            return ()
        full = path[1:] if path.startswith("/") else self._prefix + path
        return tuple(map(self._in_folder, self._commits.changes(full, self._prefix.rstrip("/"))))

    def changes_since(self, when: float) -> Iterator[Change]:
        """Yield the changes that were written since a time, the newest first."""
        self._load()
        if self._commits is not None:
            changes = self._commits.changes_below(*self._tree_paths, since=when)
            yield from map(self._in_folder, changes)

    def find_moves(self, paths: Collection[str], exists: Callable[[str], bool]) -> dict[str, str]:
        """Map removed paths, below the work tree, to the names to which git moved them.

        Repeated renames are followed to the first name that `exists`; staged ones count, unless
        the history ends at another commit than HEAD.
        """
        self._load()
        if self._history is None or self._commits is None or not paths:
            return {}
        staged = {} if self._end else repository.list_staged_renames(self._history.tree)
        moves = {}
        for path in paths:
            name = path
            for _ in range(_MOST_RENAMES):
                name = staged.get(name) or self._commits.find_new_name(name)
                if not name or exists(name):
                    break
            if name and name != path and exists(name):
                moves[path] = name
        return moves

    def find_request(self, commit: str) -> tuple[int, str] | None:
        """Return the pull request that brought a commit to the default branch.

        That is its number, 0 for none, and the commit that merged it. None if the commit is not on
        the branch.
        """
        if commit not in self._requests:
            history = self._history if self._default_tip else None
            self._requests[commit] = history.find_request(commit) if history else None
        return self._requests[commit]

    def has_request(self) -> bool:
        """Tell whether a pull request brought any commit of the files to the default branch."""
        ids = dict.fromkeys(change.commit.id for change in self.changes_since(0))
        return any(request[0] for request in map(self.find_request, ids) if request)

    def blame_lines(self, path: str, seconds: float) -> list[str] | None:
        """Return the commit of each line of a file as of HEAD; None if git can't say in time."""
        blob, changes = self.blob(path), self.changes(path)
        if self._history is None or self._commits is None or not blob or not changes:
            return None
        key = blob, changes[0].commit.id
        return self._history.blame_lines(self._commits.head, self._prefix + path, key, seconds)

    def load_text(self, name: str) -> str:
        """Return the text of a name that was saved for all files; empty if there is none."""
        return self._history.load_text(self._key(name)) if self._history else ""

    def save_text(self, name: str, value: str) -> None:
        """Save a text for all files in place of the last one of that name."""
        if self._history is not None:
            self._history.save_text(self._key(name), value)

    def refresh(self, *, again: bool = False, seconds: float = LIMIT) -> bool:
        """Read new commits if HEAD changed; tell whether the dates of any file changed.

        If no commit can be read in time, that HEAD is only tried `again`.
        """
        self._find_repository()
        tree = self.tree
        head = (self._end or repository.read_head_commit(tree)) if tree else ""
        self._has_none = tree is None or (not head and not repository.find_problem(tree))
        if self._history is None or tree is None or not head:
            changed = self._has_none and bool(self._dates)
            if self._has_none:
                self._commits, self._dates = None, {} if changed else self._dates
                self.remembered.clear()
            return changed
        former_dates = self._dates if self._loaded else self._load_dates()[1]
        self._loaded = True
        if self._commits is not None and self._commits.head == head:
            return False
        commits = self._history.at(head, again=again, seconds=seconds)
        if commits is None:
            self._unread_head, self._dates = head, former_dates
            return False
        dates = self._read_dates(commits)
        if dates is None:
            self._unread_head = head
            return False
        self._commits, self._unread_head, self._dates = commits, "", dates
        self.remembered.clear()
        return dates != former_dates

    def refresh_requests(self) -> None:
        """Read which pull requests brought the commits, if the default branch changed."""
        if self._history is None or self._commits is None:
            return
        tree, (ref, state) = self._history.tree, self._refs
        new_state = repository.stat_refs(tree, ref)
        if state is not None and self._default_tip is not None and state == new_state:
            return
        new_ref, tip = authorship.find_default_ref(tree)
        same_folder = posixpath.dirname(new_ref) == posixpath.dirname(ref)
        self._refs = new_ref, new_state if same_folder else None
        default_tip = tip if not tip or self._history.read_mainline(tip) else None
        if default_tip != self._default_tip:
            self._default_tip = default_tip
            self._requests.clear()
            self.remembered.clear()

    def close(self) -> None:
        """Drop what is in memory."""
        self._forget()
        if self._history is not None:
            self._history.close()

    def _forget(self) -> None:
        self._commits, self._dates, self._loaded = None, {}, False
        self.remembered.clear()

    @property
    def _tree_paths(self) -> list[str]:
        return [
            (self._prefix + path if path != "." else self._prefix).rstrip("/")
            for path in self._paths
        ]

    def _key(self, name: str) -> str:
        return json.dumps([name, str(self._folder), self._end, self._paths])

    def _find_repository(self) -> None:
        """Find the repository, which may have been made or removed meanwhile."""
        tree = repository.find_worktree(self._folder)
        if tree != self.tree:
            if self._history is not None:
                self._history.close()
            self._history = None if tree is None else self._open(tree)
            self._prefix = repository.tree_prefix(tree, self._folder) if tree else ""
            self._forget()

    def _load(self) -> None:
        """Take the dates and commits that were saved last."""
        if self._loaded:
            return
        self._loaded = True
        head, self._dates = self._load_dates()
        if self._history is not None and head:
            self._commits = self._history.at_known(head)

    def _load_dates(self) -> tuple[str, _FileDates]:
        """Return the dates of files that were saved, and the HEAD that they are of."""
        try:
            head, dates = json.loads(self.load_text("dates") or '["", {}]')
            return str(head), {path: Committed(*fields) for path, fields in dates.items()}
        except (Busy, StorageFailed, ValueError, TypeError, AttributeError):
            return "", {}

    def _read_dates(self, commits: CommitsAt) -> _FileDates | None:
        """Return when files were committed; None if git can't list those of the commit in time."""
        head, dates = self._load_dates()
        if head == commits.head:
            return dates
        new_commits = commits.list_after(head) if head else None
        if new_commits is None:
            pathspecs = (word or "." for word in self._tree_paths)
            words = ("ls-tree", "-r", "-z", commits.head, "--", *pathspecs)
            listed = process.run(self.tree or self._folder, *words, seconds=LIMIT)
            if listed is None:
                return None
            changes = [*commits.changes_below(*self._tree_paths, merges=False)][::-1]
            blobs = {path: blob.hex() for path, blob in repository.parse_tree_blobs(listed)}
            dates = {
                path: committed._replace(blob=blobs.get(self._prefix + path, ""))
                for path, committed in self._add_changes({}, changes).items()
            }
        else:
            changes = [c for commit in reversed(new_commits) for c in commits.changes_of(commit)]
            dates = self._add_changes(dates, changes)
        self.save_text("dates", json.dumps([commits.head, dates]))
        return dates

    def _add_changes(self, former_dates: _FileDates, changes: Iterable[Change]) -> _FileDates:
        """Return the dates of files after more changes, which come with the oldest first."""
        dates = dict(former_dates)
        folders = self._tree_paths
        for change in changes:
            old = change.old[len(self._prefix) :] if change.old.startswith(self._prefix) else ""
            if change.status in "RD" and old in dates:
                dates[old] = dates[old]._replace(blob="")
            path = change.path[len(self._prefix) :]
            inside = any(is_below(change.path, folder) for folder in folders)
            when = float(change.commit.written)
            if change.status == "D" or not inside or not 0 < when < LAST_SECOND:
                continue
            renamed = dates.get(old) if old != path else None
            first, last = renamed[:2] if renamed else (when, when)
            changed = last if change.status == "R" and change.before == change.after else when
            first, last, _ = dates.get(path, Committed(first, changed, ""))
            dates[path] = Committed(first, max(first, last, changed), change.after)
        return dates

    def _in_folder(self, change: Change) -> Change:
        """Return a change with its paths below the folder; one outside of it has a slash before."""
        path = self._folder_path(change.path)
        old = path if change.old == change.path else self._folder_path(change.old)
        return Change(change.commit, change.status, old, path, change.before, change.after)

    def _folder_path(self, path: str) -> str:
        inside = path[len(self._prefix) :] if path.startswith(self._prefix) else f"/{path}"
        if inside.isascii():
            return inside
        return inside.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
