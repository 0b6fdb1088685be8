"""Questions that a repository's history answers: which files did a commit with this message change?

The newest fifth of its commits is held out; the work tree is that of the commit before them.
"""

from pathlib import Path
from typing import NamedTuple

from tests.git.history_builder import run as git

SHARE = 0.2
"""Share of the commits, the newest ones, that are held out."""
_MOST_FILES = 10
"""Commits of more files are no question."""
_BEGIN, _END = "\x1e", "\x1f"


class Question(NamedTuple):
    """A commit's message and the files that it changed, of those in the older work tree."""

    text: str
    files: frozenset[str]


class HeldOut(NamedTuple):
    """An older work tree of a repository, and the questions of the commits that came later."""

    name: str
    tree: Path
    questions: tuple[Question, ...]


def held_out(repository: Path, work: Path) -> HeldOut:
    """Check out the older work tree below `work`, with the history up to it, and ask the rest."""
    name = repository.parent.name if repository.name == "repo" else repository.name
    tree = work / name.rpartition("+")[2].removesuffix(".git")
    commits = _commits(repository)
    count = int(len(commits) * SHARE)
    base = commits[count][0]
    if not tree.exists():
        # local, since a snapshot may lack objects; no reference leads to the commits held out
        git(repository, "clone", "-q", "--no-checkout", str(repository), str(tree))
        git(tree, "checkout", "-q", "--detach", base)
        for ref in git(tree, "for-each-ref", "--format=%(refname)").split():
            git(tree, "update-ref", "-d", ref)
    there = set(git(tree, "ls-files", "-z").split("\0"))
    asked = (Question(text, frozenset(files) & there) for _, text, files in commits[:count])
    found = [one for one in asked if 1 <= len(one.files) <= _MOST_FILES and one.text]
    return HeldOut(tree.name, tree, tuple(found))


def _commits(repository: Path) -> list[tuple[str, str, list[str]]]:
    """Return the commits that are no merges, the newest first: hash, message, files."""
    form = f"--format={_BEGIN}%H{_END}%B{_END}"
    listed = git(repository, "log", "--no-merges", "--no-renames", "--name-only", "-z", form)
    found = []
    for record in listed.split(_BEGIN)[1:]:
        commit, message, files = record.split(_END)
        names = [name.strip("\n") for name in files.split("\0")]
        found.append((commit, message.strip(), [name for name in names if name]))
    return found
