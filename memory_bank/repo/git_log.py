"""List the commits of a repository, and what each changed, without merges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from memory_bank.repo import git
from memory_bank.repo.git_process import run

_SECONDS = 5.0
"""Time limit of listing the changes of one block of commits."""
_RENAME_LIMIT = 200
"""Number of added or removed files of a commit above which only those with the same bytes are
compared: comparing the others takes time that grows with its square."""
_EXACT = "--find-renames=100%"
"""Option that finds renames by the ids of blobs, so that none is read."""
_MOST_SUBJECT = 300
"""Characters of a subject that are kept."""
_PLAIN = ("--no-ext-diff", "--no-textconv", "-O/dev/null")


class Extent(NamedTuple):
    """Which commits a clone has, and how well it knows them."""

    head: str
    partial: bool
    """Whether objects may be missing, as in a clone with a filter; git would fetch them."""
    ends: frozenset[str] = frozenset()
    """In a shallow clone, the commits whose parents are missing: they would seem to have added
    every file."""

    @property
    def key(self) -> str:
        """A text that differs if other commits or changes are known."""
        return " ".join([self.head, *["partial"][: self.partial], *sorted(self.ends)])


class Listed(NamedTuple):
    """The commits before HEAD that are not merges, the newest first."""

    commits: tuple[tuple[str, int], ...]
    """Ids, and times in seconds since the epoch; without the ends of a shallow clone."""
    more: bool
    """Whether there are older ones that are not listed."""


class Change(NamedTuple):
    """What a commit did to a file."""

    status: str
    """The letter that git gives it: A, M, D, R (renamed) or T."""
    old: str
    """Its path before."""
    path: str
    """Its path after; the same, unless it was renamed."""


def extent(tree: Path, known: Extent | None = None, rev: str = "HEAD") -> Extent | None:
    """Return which commits lead to a revision; None if there are none, or git can't say.

    `known` is what was returned last: it is returned again if HEAD is the same. That the clone has
    become a partial one since then only matters for new commits.
    """
    found = run(tree, "rev-parse", "--is-shallow-repository", f"{rev}^{{commit}}")
    shallow, _, head = (found or "").strip().partition("\n")
    if not head:
        return None
    if known is not None and known == Extent(head, known.partial) and shallow != "true":
        return known
    partial = git.renames_option(tree, _EXACT) == _EXACT
    if shallow != "true":
        return Extent(head, partial)
    ends = run(tree, "rev-list", "--max-parents=0", head, "--")
    return None if ends is None else Extent(head, partial, frozenset(ends.split()))


def listed(tree: Path, extent: Extent, most: int) -> Listed | None:
    """List at most so many commits; None if git can't say."""
    words = ("--no-merges", "--timestamp", f"--max-count={most + 1}", extent.head)
    found = run(tree, "rev-list", *words, "--")
    if found is None:
        return None
    lines = [line.split() for line in found.splitlines()]
    commits = [(commit, int(when)) for when, commit in lines if commit not in extent.ends]
    return Listed(tuple(commits[:most]), len(lines) > most)


def changes(tree: Path, commits: Sequence[str], *, exact: bool) -> dict[str, str] | None:
    """Return what some commits changed, as text for `parsed`; None if git can't say in time.

    With `exact`, only renamed files with the same bytes are found as such: no blob is read.
    """
    how = (_EXACT,) if exact else ("--find-renames", f"-l{_RENAME_LIMIT}")
    found = run(
        tree, "diff-tree", "--stdin", "--root", "-r", "-z", "--name-status", *_PLAIN, *how,
        given="".join(f"{commit}\n" for commit in commits), seconds=_SECONDS,
    )  # fmt: skip
    if found is None:
        return None
    wanted, texts = set(commits), dict[str, str]()
    commit, start, place = "", 0, 0
    while place < len(found):
        end = found.find("\0", place)
        word = found[place:end]
        if word in wanted:  # a status is expected here, so it is no path
            texts[commit] = found[start:place]
            commit, start, place = word, end + 1, end + 1
            continue
        for _ in range(2 if word.startswith(("R", "C")) else 1):
            end = found.find("\0", end + 1)
        place = end + 1 if end >= 0 else len(found)
    texts[commit] = found[start:]
    texts.pop("", None)
    return texts


def subjects(tree: Path, commits: Sequence[str]) -> dict[str, str] | None:
    """Return the first lines of the messages of some commits; None if git can't say in time."""
    found = run(
        tree, "log", "--no-walk=unsorted", "--stdin", "--encoding=UTF-8", "--format=%H %s",
        "--no-patch", "--no-mailmap", "--no-show-signature",
        given="".join(f"{commit}\n" for commit in commits), seconds=_SECONDS,
    )  # fmt: skip
    if found is None:
        return None
    pairs = (line.partition(" ") for line in found.split("\n") if line)
    return {commit: subject[:_MOST_SUBJECT] for commit, _, subject in pairs}


def parsed(text: str) -> Iterator[Change]:
    """Yield the changes of a text that `changes` returned."""
    words = iter(text.split("\0"))
    for status in words:
        if not status:
            return
        old = next(words, "")
        yield Change(status[0], old, next(words, "") if status[0] in "RC" else old)
