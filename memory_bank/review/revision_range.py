"""The two states that a review compares."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property
from pathlib import Path

from memory_bank.bank.bank import Bank
from memory_bank.base.documents import Link
from memory_bank.base.errors import BadInput, MemoryBankError, NoRepository
from memory_bank.git import authorship, process, repository
from memory_bank.git.objects import find_commit, find_merge_base
from memory_bank.review.records import Side
from memory_bank.search.manifest import document_rows, link_rows
from memory_bank.search.manifest.document_rows import Version

STAGED, WORKTREE = "staged", "worktree"

_DEFAULT_BRANCHES = ("main", "master")

# That the page of reviews offers.
_MOST_BRANCHES = 50

_HOW = "give BASE..HEAD, one revision, what is staged, or the work tree"


def resolve_sides(
    folder: Path,
    revisions: str | None = None,
    *,
    staged: bool = False,
    worktree: bool = False,
) -> tuple[Side, Side]:
    """Return BASE and HEAD of a review, for the repository of a folder.

    * `A..B`, as `A...B`: the merge base of A and B, and B, as a pull request shows it. A side that
      is left out is HEAD.
    * `A`: A and the work tree, as `git diff A`; with `staged`, A and what is staged.
    * nothing: the merge base of HEAD and the default branch, and HEAD; with `worktree`, the work
      tree in place of HEAD; with `staged`, HEAD and what is staged.

    Raises NoRepository, and BadInput for another range and for unknown revisions.
    """
    tree = repository.find_worktree(folder)
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
        after = _find_side(tree, head or "HEAD")
        return _merge_base(tree, _find_side(tree, base or "HEAD"), after), after
    uncommitted = Side(STAGED if staged else WORKTREE, None)
    if revisions or staged:
        return _find_side(tree, revisions or "HEAD"), uncommitted
    head_side = _find_side(tree, "HEAD")
    base_side = _merge_base(tree, _find_default_side(tree), head_side)
    return base_side, uncommitted if worktree else head_side


def list_branches(bank: Bank) -> tuple[str, ...]:
    """Return the branches of the bank's repository, the last committed to first; at most 50."""
    tree = repository.find_worktree(bank.layout.root)
    texts = ("--format=%(refname:short)", "--sort=-committerdate", f"--count={_MOST_BRANCHES}")
    text = process.run(tree, "for-each-ref", *texts, "refs/heads", "refs/remotes") if tree else ""
    return tuple(line for line in (text or "").split("\n") if line)


def _find_side(tree: Path, rev: str) -> Side:
    return Side(rev, find_commit(tree, rev))


def _find_default_side(tree: Path) -> Side:
    """Return the default branch: as for trust, else a local `main`, `master`."""
    ref, commit = authorship.find_default_ref(tree)
    if commit:
        return Side(ref.removeprefix("refs/heads/").removeprefix("refs/remotes/"), commit)
    for local in _DEFAULT_BRANCHES:
        try:
            return _find_side(tree, local)
        except BadInput:
            continue
    raise BadInput(
        "there is no default branch: none of origin/HEAD, main, master and the like", _HOW
    )


def _merge_base(tree: Path, side: Side, head: Side) -> Side:
    """Return the commit from which two commits have grown apart."""
    base = find_merge_base(tree, str(side.commit), str(head.commit))
    if not base:
        shallow = repository.is_shallow(tree)
        raise BadInput(
            f"{side.name} and {head.name} have no common commit"
            + (" in this shallow clone" if shallow else ""),
            "get the history with `git fetch --unshallow`, or fetch-depth: 0 of actions/checkout"
            if shallow
            else "name a revision that is an ancestor",
        )
    return Side(side.name, base)


class ComparedBank:
    """A bank at one revision; all is read lazily, and once."""

    def __init__(self, bank: Bank, left_out: Collection[str] = ()) -> None:
        self.bank = bank
        self.left_out = frozenset(left_out)

    @cached_property
    def rows(self) -> dict[str, Version]:
        """The notes by path."""
        versions = self.bank.read(lambda view: document_rows.read_versions(view.manifest))
        return {path: row for path, row in versions.items() if path not in self.left_out}

    @cached_property
    def versions(self) -> dict[str, str]:
        """A text for each file that differs if the file does, by path."""
        listed = self.bank.read(lambda view: document_rows.list_unindexed(view.manifest))
        texts = {path: f"not read: {reason}" for path, reason in listed}
        texts |= {path: row.hash for path, row in self.rows.items()}
        return {path: value for path, value in texts.items() if path not in self.left_out}

    @cached_property
    def goals(self) -> dict[str, list[Link]]:
        """Where the links of each note lead, in their order."""
        link_destinations = self.bank.read(lambda view: link_rows.map_destinations(view.manifest))
        return {
            path: destinations
            for path, destinations in link_destinations.items()
            if path not in self.left_out
        }

    def links(self, paths: Collection[str]) -> dict[str, list[Link]]:
        """Return the links of some notes, in their order."""
        path_set = set(paths) - self.left_out
        rows: dict[str, list[Link]] = {}
        for row in self.bank.read(lambda view: link_rows.read_links_of(view.manifest, path_set)):
            rows.setdefault(row.source_key, []).append(row)
        return rows

    @cached_property
    def linked_from(self) -> dict[str, set[str]]:
        """The other notes that link to each note."""
        sources: dict[str, set[str]] = {}
        for source, goals in self.goals.items():
            for goal in goals:
                if goal.dest_key and goal.dest_key != source:
                    sources.setdefault(goal.dest_key, set()).add(source)
        return sources

    @cached_property
    def ghosts(self) -> frozenset[str]:
        """The names of all ghosts in lower case."""
        link_destinations = (goal for goals in self.goals.values() for goal in goals)
        return frozenset(goal.ghost.lower() for goal in link_destinations if is_ghost(goal))

    def problems(self, rows: list[Link]) -> list[str]:
        """Return for each link what is wrong with it, or an empty text."""
        return self.bank.read(lambda view: link_rows.find_problems(view.manifest, rows))

    def superseded(self, paths: Collection[str]) -> dict[str, str]:
        """Map the superseded ones of some notes to their successors."""
        numbers = {self.rows[path].number: path for path in paths if path in self.rows}
        content = self.bank.read(lambda view: link_rows.map_superseded(view.manifest, numbers))
        return {numbers[number]: successor for number, (_, successor) in content.items()}

    def data(self, path: str) -> bytes:
        """Return a file's bytes; none if it can't be read."""
        try:
            return self.bank.store.read_bytes(path)
        except (MemoryBankError, OSError):
            return b""


def is_ghost(link: Link) -> bool:
    """Tell whether a link leads to no note, though it names neither a person nor code."""
    return bool(link.ghost) and not link.ambiguous and link.kind != "reference"


def list_unshared(bank: Bank, paths: Collection[str]) -> set[str]:
    """Return those of some notes that no revision will have: private, or ignored by git."""
    roots = bank.roots
    private = {path for path in paths if roots.is_private(path)}
    files = {roots.file(path): path for path in paths if path not in private}
    tree = repository.find_worktree(bank.layout.root)
    if tree is None:
        return private
    visible = repository.list_trackable(tree, list(files))
    return private | {path for file, path in files.items() if file not in visible}
