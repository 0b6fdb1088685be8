"""Which commits a pull request brought into the default branch, by what git shows.

git does not record pull requests. What counts is a merge commit on the first-parent line of the
default branch with the subject of a forge, or a commit with one parent on that line whose subject
ends with `(#N)`, as a squash has it. Who may write to that branch can write such a subject, too.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from memory_bank.repo import git
from memory_bank.repo.git_process import run

_NONE: Mapping[str, tuple[int, str]] = MappingProxyType({})
_REMOTE, _LOCAL = "refs/remotes/origin/", "refs/heads/"
_NAMES = ("main", "master", "trunk", "develop")
"""Names of a default branch, if neither the remote nor `init.defaultBranch` says which it is."""
_MOST_DIGITS = 9
_MERGES = (
    re.compile(r"Merge pull request #?(\d+) (?:from|in) "),  # GitHub, Bitbucket Server, Azure
    re.compile(r"Merge pull request '.*' \([#!](\d+)\) from "),  # Gitea, Forgejo
    re.compile(r"Pull request #(\d+): "),  # Bitbucket Server
    re.compile(r"Merged in .* \(pull request #(\d+)\)$"),  # Bitbucket
    re.compile(r"Merged PR (\d+): "),  # Azure DevOps
    re.compile(r"Auto merge of #(\d+) - "),  # homu, bors
)
_ANY = (
    re.compile(r"\(#(\d+)\)$"),  # GitHub, Gitea
    re.compile(r"\(pull request #(\d+)\)$"),
    re.compile(r"\(!(\d+)\)$"),  # GitLab, by a template
    re.compile(r"^Merged PR (\d+): "),
)
"""Subjects of squashes, and of merges whose subject is the title of the pull request."""
_IN_BODY = re.compile(
    r"^See merge request (?:\S*!|https://\S+/merge_requests/)(\d+)\s*$", re.MULTILINE
)
"""Line in the message of GitLab's merges."""


class Mainline(NamedTuple):
    """The commits of the default branch."""

    tip: str = ""
    commits: Mapping[str, tuple[int, str]] = _NONE
    """For each, the number of the pull request that brought it (0 for none), and the commit on the
    first-parent line that did."""

    def only(self, wanted: Collection[str]) -> Mainline:
        """Return it with some commits only."""
        kept = {one: how for one, how in self.commits.items() if one in wanted}
        return self._replace(commits=kept)


def default_branch(tree: Path, name: str = "") -> str:
    """Return the commit at the tip of the default branch; empty if there is none.

    `name` is as in `default_ref`.
    """
    return default_ref(tree, name)[1]


def default_ref(tree: Path, name: str = "") -> tuple[str, str]:
    """Return the full name of the default branch and the commit at its tip; both empty if none is.

    The branch is that of the remote `origin`, since only what was pushed or fetched is there; in a
    repository without one, a local branch: `init.defaultBranch`, one of a usual name, or the only
    one. `name` is a name to take instead.
    """
    listed = run(
        tree, "for-each-ref", "--format=%(refname) %(objectname) %(symref)", _REMOTE, _LOCAL
    )
    refs: dict[str, str] = {}
    head = ""
    for line in (listed or "").splitlines():
        ref, commit, *target = line.split(" ")
        refs[ref] = commit
        head = target[0] if ref == f"{_REMOTE}HEAD" and target and target[0] else head
    found = _chosen(tree, refs, head, name)
    return found, refs.get(found, "")


def _chosen(tree: Path, refs: Collection[str], head: str, name: str) -> str:
    """Return which of some branches is the default one; empty if none is."""
    if name:
        return next((ref for ref in (_REMOTE + name, _LOCAL + name) if ref in refs), "")
    remote = any(ref.startswith(_REMOTE) for ref in refs)
    start = _REMOTE if remote else _LOCAL
    if head in refs:
        return head
    set_name = (run(tree, "config", "--get", "init.defaultBranch") or "").strip()
    wanted = [start + one for one in (set_name, *_NAMES)]
    local = [ref for ref in refs if ref.startswith(_LOCAL)]
    if not remote and len(local) == 1:
        wanted.append(local[0])
    return next((ref for ref in wanted if ref in refs), "")


def mainline(tree: Path, tip: str, ends: Collection[str] = ()) -> Mainline | None:
    """Return the commits of the default branch; None if git can't list them in time.

    `ends` are the oldest commits of a shallow clone, which count as brought by no pull request.
    """
    if not tip:
        return Mainline()
    listed = run(tree, "rev-list", "--topo-order", "--parents", tip, "--")
    if listed is None:
        return None
    parents = {commit: rest for commit, *rest in (line.split(" ") for line in listed.splitlines())}
    line = list(_first_parents(parents, tip))
    requests = _requests(tree, line, parents)
    found: dict[str, tuple[int, str]] = {}
    for one in reversed(line):  # the oldest first: each commit is of the merge that brought it
        how = (0 if one in ends else requests.get(one, 0), one)
        waiting = [one]
        while waiting:
            commit = waiting.pop()
            if commit not in found and commit in parents:
                found[commit] = how
                waiting += parents[commit]
    return Mainline(tip, found)


def number(subject: str, body: str, *, merge: bool) -> int:
    """Return the number of the pull request that a commit merged or squashed; 0 for none."""
    if merge:
        for pattern in _MERGES:
            if found := pattern.match(subject):
                return _number(found[1])
        if found := _IN_BODY.search(body):
            return _number(found[1])
    for pattern in _ANY:
        if found := pattern.search(subject):
            return _number(found[1])
    return 0


def _number(digits: str) -> int:
    return int(digits) if len(digits) <= _MOST_DIGITS else 0


def _first_parents(parents: Mapping[str, Sequence[str]], tip: str) -> Iterator[str]:
    one = tip
    while one in parents:
        yield one
        if not parents[one]:
            return
        one = parents[one][0]


def _requests(
    tree: Path, line: Sequence[str], parents: Mapping[str, Sequence[str]]
) -> dict[str, int]:
    """Return the numbers of the pull requests that the commits of a first-parent line name."""
    log = run(
        tree, "log", "--no-walk=unsorted", "--stdin", "--encoding=UTF-8", "-z", *git.ORDINARY,
        "--no-patch", "--format=%H%n%s%n%b", given="".join(f"{one}\n" for one in line),
    )  # fmt: skip
    found = {}
    for record in (log or "").split("\0"):
        commit, _, message = record.partition("\n")
        subject, _, body = message.partition("\n")
        merge = len(parents.get(commit, ())) > 1
        if said := number(subject, body, merge=merge):
            found[commit] = said
    return found
