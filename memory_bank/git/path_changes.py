"""What the commits between two revisions did to some files: renames, changes, and who made them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from memory_bank.git import repository
from memory_bank.git.history_rows import clean
from memory_bank.git.process import read

_PLAIN = ("--no-ext-diff", "--no-textconv", "-O/dev/null")

_LOG = ("log", *_PLAIN, "--no-mailmap", "--no-show-signature", "--encoding=UTF-8")

_FIELDS = "%x00%H%n%ct%n%an%n%ae%n%s%x00"

_RAW = ("--raw", "--no-abbrev", "-z")

_MOST = 200_000_000

SECONDS = 20.0
"""Time limit of one command."""

_MOST_RENAMES = 10
"""Maximum number of renames of one file that are followed."""

_LAST_SECOND = 253_402_300_799
"""Last second of the year 9999."""

_ID = re.compile(r"[0-9a-f]{7,64}")

_NO_BLOB = re.compile(r"0+")


class ListedCommit(NamedTuple):
    """A commit, as a list of commits shows it."""

    id: str
    time: float
    """When it was committed, in seconds since the epoch."""
    author: str
    email: str
    subject: str


class PathChange(NamedTuple):
    """What a commit did to a file."""

    commit: ListedCommit
    old: str
    """Its path before; the same, unless it was renamed."""
    path: str
    before: str
    """The id of its blob before; empty if it was added."""
    after: str
    """Empty if it was removed."""


def steps(
    tree: Path,
    end: str,
    paths: Sequence[str],
    *,
    since: str = "",
    renames: bool = False,
    seconds: float = SECONDS,
) -> list[PathChange] | None:
    """Return the changes of files at or below some paths up to a commit, the newest first.

    `since` leaves out that commit and those before it; with `renames`, renamed files are found if
    both names are below the paths. Merges are left out. None if git can't say.
    """
    how = repository.renames_option(tree, "--find-renames=100%") if renames else "--no-renames"
    return _steps(tree, [how, *_span(end, since), "--", *paths], seconds)


def merge_steps(tree: Path, end: str, paths: Sequence[str], *, since: str = "") -> list[PathChange]:
    """Return the changes that merges brought, or made, on the way by first parents."""
    words = ["--first-parent", "-m", "--merges", "--no-renames", *_span(end, since)]
    return _steps(tree, [*words, "--", *paths]) or []


def renamed(tree: Path, end: str, paths: Collection[str]) -> dict[str, str]:
    """Map paths that were removed before a commit to the names that git finds for them.

    Repeated renames are followed. A file that was removed in a merge is not found.
    """
    found = {path: path for path in paths}
    seen: set[str] = set()
    for _ in range(_MOST_RENAMES):
        wanted = sorted({path for path in found.values() if path not in seen})
        if not wanted:
            break
        seen.update(wanted)
        ways = _renamed_once(tree, end, wanted)
        found = {first: ways.get(last, last) for first, last in found.items()}
        seen -= set(ways.values()) - set(ways)
    return {first: last for first, last in found.items() if first != last}


def changed(tree: Path, base: str, end: str) -> dict[str, str] | None:
    """Map the files that differ between two commits to the letter that git gives them.

    None if git can't say.
    """
    words = ("diff-tree", "-r", "-z", "--name-status", "--no-renames", *_PLAIN, base, end, "--")
    found = read(tree, *words, most=_MOST, seconds=SECONDS)
    if found is None:
        return None
    listed = found.decode("utf-8", "surrogateescape").split("\0")
    return dict(zip(listed[1::2], listed[::2], strict=False))


def is_ancestor(tree: Path, commit: str, end: str) -> bool:
    """Tell whether a commit is another one or before it; false if it is unknown."""
    if not _ID.fullmatch(commit):
        return False
    words = ("merge-base", "--is-ancestor", f"{commit}^{{commit}}", end)
    return read(tree, *words, most=_MOST, seconds=SECONDS) is not None


def merge_base(tree: Path, one: str, other: str) -> str:
    """Return the last common ancestor of two commits; empty if there is none."""
    found = read(tree, "merge-base", one, other, most=_MOST, seconds=SECONDS)
    return (found or b"").decode("ascii", "replace").strip()


def touched(tree: Path, base: str, end: str, paths: Collection[str]) -> bool:
    """Tell whether a commit between two commits changed some files, or git can't say."""
    words = ("rev-list", "--full-history", "-1", *_span(end, base), "--", *sorted(paths))
    return read(tree, *words, most=_MOST, seconds=SECONDS) != b""


def commits_between(tree: Path, base: str, end: str) -> frozenset[str]:
    """Return a commit and those before it, without those that are also before another commit."""
    found = read(tree, "rev-list", *_span(end, base), "--", most=_MOST, seconds=SECONDS)
    return frozenset((found or b"").decode("ascii", "replace").split())


def commit_time(tree: Path, commit: str) -> float:
    """Return when a commit was made, in seconds since the epoch; 0 if git can't say."""
    words = ("rev-list", "--no-walk", "--timestamp", commit, "--")
    found = read(tree, *words, most=_MOST, seconds=SECONDS) or b""
    return _second((found.split() or [b""])[0].decode("ascii", "replace"))


def _span(end: str, since: str) -> list[str]:
    return [end, f"^{since}"] if since else [end]


def _steps(tree: Path, words: Sequence[str], seconds: float = SECONDS) -> list[PathChange] | None:
    found = read(tree, *_LOG, f"--format={_FIELDS}", *_RAW, *words, most=_MOST, seconds=seconds)
    if found is None:
        return None
    return list(_parsed(found.decode("utf-8", "surrogateescape")))


def _parsed(log: str) -> Iterator[PathChange]:
    """Yield the changes of a log; no name or subject has a NUL or a line break."""
    about = ListedCommit("", 0.0, "", "", "")
    words = iter(log.split("\0"))
    for word in words:
        text = word.strip("\n")
        if text.startswith(":"):
            before, after, status = text.split()[2:5]
            old = next(words, "")
            new = next(words, "") if status[0] in "RC" else old
            yield PathChange(about, old, new, _blob(before), _blob(after))
        elif text:
            commit, when, author, email, subject = (*text.split("\n"), "", "", "", "")[:5]
            about = ListedCommit(commit, _second(when), clean(author), clean(email), clean(subject))


def _second(text: str) -> float:
    return float(min(int(text), _LAST_SECOND)) if text.isdigit() else 0.0


def _blob(name: str) -> str:
    return "" if _NO_BLOB.fullmatch(name) else name


def _renamed_once(tree: Path, end: str, paths: Sequence[str]) -> dict[str, str]:
    """Map paths to their new names, if their last removal was a rename."""
    removals: dict[str, str] = {}
    for step in _steps(tree, ["--no-renames", "--diff-filter=D", end, "--", *paths]) or ():
        removals.setdefault(step.path, step.commit.id)
    if not removals:
        return {}
    how = repository.renames_option(tree, "--find-renames=100%")
    commits = sorted(set(removals.values()))
    some = _steps(tree, ["--no-walk", how, "--diff-filter=R", *commits, "--"])
    return {one.old: one.path for one in some or () if removals.get(one.old) == one.commit.id}
