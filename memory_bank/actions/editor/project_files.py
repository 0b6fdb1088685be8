"""The files of a bank's project, as git lists them."""

from __future__ import annotations

import time
from collections.abc import Sequence

from memory_bank.bank import Bank
from memory_bank.repo import git

_FILES_SECONDS = 30.0
"""Seconds that the list of the project's files is used."""
_files: dict[str, tuple[float, list[str]]] = {}
"""The files of projects that were listed last, with the time."""


def project_files(bank: Bank) -> Sequence[str]:
    """Return the files of the bank's project, as git lists them; none without a repository."""
    project = bank.layout.project
    if not bank.layout.prefix:
        return ()
    known = _files.get(str(project))
    if known is None or time.monotonic() - known[0] > _FILES_SECONDS:
        tree = git.worktree(project)
        found = git.not_ignored(tree, project, ["."]) if tree else None
        listed = sorted(one for one in found or () if not one.startswith(bank.layout.prefix))
        known = _files[str(project)] = (time.monotonic(), listed)
    return known[1]
