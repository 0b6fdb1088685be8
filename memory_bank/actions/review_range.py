"""Find the two states that a review compares."""

from __future__ import annotations

from pathlib import Path

from memory_bank.actions.review_report import Side
from memory_bank.bank import Bank
from memory_bank.errors import BadInput, NoRepository
from memory_bank.repo import git, git_process, pull_requests
from memory_bank.repo.git_objects import commit_of, is_shallow

STAGED, WORKTREE = "staged", "worktree"
_DEFAULT_BRANCHES = ("main", "master")
_MOST_BRANCHES = 50
_HOW = "give BASE..HEAD, one revision, what is staged, or the work tree"


def sides(
    folder: Path,
    revisions: str | None = None,
    *,
    staged: bool = False,
    worktree: bool = False,
    default: str = "",
) -> tuple[Side, Side]:
    """Return BASE and HEAD of a review, for the repository of a folder.

    * `A..B`, as `A...B`: the merge base of A and B, and B, as a pull request shows it. A side that
      is left out is HEAD.
    * `A`: A and the work tree, as `git diff A`; with `staged`, A and what is staged.
    * nothing: the merge base of HEAD and the default branch, and HEAD; with `worktree`, the work
      tree in place of HEAD; with `staged`, HEAD and what is staged.

    `default` names the default branch, as the setting `memory.default_branch` does; if empty, it is
    found. Raises NoRepository, and BadInput for another range and for unknown revisions.
    """
    tree = git.worktree(folder)
    if tree is None:
        raise NoRepository(
            f"{folder} is not in a git repository", "a review compares revisions of one"
        )
    if staged and worktree:
        raise BadInput("a review is of what is staged, or of the work tree, not of both", _HOW)
    if revisions and ".." in revisions:
        if staged or worktree:
            raise BadInput(f"{revisions} says already what is compared", _HOW)
        base, _, head = revisions.replace("...", "..", 1).partition("..")
        if ".." in head:
            raise BadInput(f"{revisions!r} is no range", _HOW)
        after = _commit(tree, head or "HEAD")
        return _merge_base(tree, _commit(tree, base or "HEAD"), after), after
    uncommitted = Side(STAGED if staged else WORKTREE, None)
    if revisions or staged:
        return _commit(tree, revisions or "HEAD"), uncommitted
    head_side = _commit(tree, "HEAD")
    base_side = _merge_base(tree, _default_branch(tree, default), head_side)
    return base_side, uncommitted if worktree else head_side


def branches(bank: Bank) -> tuple[str, ...]:
    """Return the branches of the bank's repository, the last committed to first; at most 50."""
    tree = git.worktree(bank.layout.root)
    asked = ("--format=%(refname:short)", "--sort=-committerdate", f"--count={_MOST_BRANCHES}")
    found = (
        git_process.run(tree, "for-each-ref", *asked, "refs/heads", "refs/remotes") if tree else ""
    )
    return tuple(line for line in (found or "").split("\n") if line)


def _commit(tree: Path, rev: str) -> Side:
    return Side(rev, commit_of(tree, rev))


def _default_branch(tree: Path, name: str) -> Side:
    """Return the default branch: of that name, else as for trust, else a local `main`, `master`."""
    ref, commit = pull_requests.default_ref(tree, name)
    if commit:
        return Side(ref.removeprefix("refs/heads/").removeprefix("refs/remotes/"), commit)
    if name:
        raise BadInput(f"there is no branch {name!r}, which memory.default_branch names", _HOW)
    for local in _DEFAULT_BRANCHES:
        try:
            return _commit(tree, local)
        except BadInput:
            continue
    raise BadInput(
        "there is no default branch: none of origin/HEAD, main, master and the like", _HOW
    )


def _merge_base(tree: Path, one: Side, other: Side) -> Side:
    """Return the commit from which two commits have grown apart."""
    found = git_process.run(tree, "merge-base", str(one.commit), str(other.commit))
    if found is None or not found.strip():
        shallow = is_shallow(tree)
        raise BadInput(
            f"{one.name} and {other.name} have no common commit"
            + (" in this shallow clone" if shallow else ""),
            "get the history with `git fetch --unshallow`, or fetch-depth: 0 of actions/checkout"
            if shallow
            else "name a revision that is an ancestor",
        )
    return Side(one.name, found.strip())
