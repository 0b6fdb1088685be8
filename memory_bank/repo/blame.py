"""The commit that each line of a file comes from, by `git blame`."""

from __future__ import annotations

import re
from pathlib import Path

from memory_bank.repo.git_process import run

SECONDS = 5.0
"""Time limit of one file."""
_LINE = re.compile(r"^([0-9a-f]{40}(?:[0-9a-f]{24})?) \d+ (\d+)(?: \d+)?$")


def lines(tree: Path, commit: str, path: str, seconds: float = SECONDS) -> list[str] | None:
    """Return the commit of each line of a file as of a commit; None if git can't say in time.

    `path` is below the work tree. No file of the work tree is read, and no filter or converter of
    text is started. Commits that a setting says to ignore are not ignored.
    """
    found = run(
        tree, "-c", "blame.ignoreRevsFile=", "-c", "blame.markUnblamableLines=false",
        "blame", "--no-textconv", "--porcelain", commit, "--", path, seconds=seconds,
    )  # fmt: skip
    if found is None:
        return None
    heads = (_LINE.match(line) for line in found.split("\n") if not line.startswith("\t"))
    return [head[1] for head in heads if head]
