"""What git knows: where the work tree is, which repository it is, when files came."""

from __future__ import annotations

import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

TIMEOUT = 60.0
_MISLEADING = frozenset(
    f"GIT_{name}"
    for name in ("DIR", "WORK_TREE", "INDEX_FILE", "COMMON_DIR", "OBJECT_DIRECTORY", "NAMESPACE")
)
"""Set inside a hook: they would answer for the repository that runs it."""
_QUIET = ("-c", "log.showSignature=false", "-c", "core.fsmonitor=false")


def worktree(folder: Path) -> Path | None:
    """Return the work tree that holds a folder; None outside git."""
    for place in (folder, *folder.parents):
        if (place / ".git").exists():
            return place
    return None


def root_commit(tree: Path) -> str | None:
    """Return the first commit of a repository: the same in all its clones and work trees.

    None when there is no commit yet, git is missing, or a shallow clone hides the first one.
    """
    if _run(tree, "rev-parse", "--is-shallow-repository") != "false\n":
        return None
    found = _run(tree, "rev-list", "--max-parents=0", "HEAD")
    return min(found.split()) if found and found.strip() else None


def head(tree: Path) -> str | None:
    """Return the commit that is checked out; None when there is none."""
    found = _run(tree, "rev-parse", "--verify", "--quiet", "HEAD")
    return found.strip() if found else None


def first_commits(tree: Path, folder: Path) -> dict[str, datetime]:
    """Map each committed file below a folder to the time of its first commit, renames followed.

    Keys are paths below the folder with forward slashes.
    """
    below = folder.relative_to(tree).as_posix()
    log = _run(
        tree, "-c", "core.quotePath=false", "log", "--reverse", "--format=%x1e%at", "-z",
        "--name-status", "-M", "--diff-filter=AR", "--", below,
    )  # fmt: skip
    first: dict[str, datetime] = {}
    for record in (log or "").split("\x1e")[1:]:
        stamp, *parts = [part.lstrip("\n") for part in record.split("\0")]
        if not stamp.isdigit():
            continue
        when = datetime.fromtimestamp(int(stamp), UTC)
        words = iter(part for part in parts if part)
        for status in words:
            old = next(words, "")
            new = next(words, "") if status.startswith("R") else old
            first.setdefault(new, first.get(old, when))
    prefix = "" if below == "." else f"{below}/"
    return {path[len(prefix) :]: when for path, when in first.items() if path.startswith(prefix)}


def _run(tree: Path, *words: str) -> str | None:
    """Ask git; None when it can't answer.

    Optional locks are off, so that asking changes nothing, and so is what starts other programs.
    """
    kept = {name: value for name, value in os.environ.items() if name not in _MISLEADING}
    try:
        done = subprocess.run(  # noqa: S603  (fixed words, paths behind --)
            ["git", "-C", str(tree), *_QUIET, *words],  # noqa: S607  (found as a shell would)
            capture_output=True,
            check=False,
            timeout=TIMEOUT,
            stdin=subprocess.DEVNULL,
            env={**kept, "GIT_OPTIONAL_LOCKS": "0", "GIT_LITERAL_PATHSPECS": "1", "LC_ALL": "C"},
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("utf-8", "surrogateescape") if done.returncode == 0 else None
