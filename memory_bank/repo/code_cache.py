"""Where what is derived from a repository's code is kept: in the user's cache."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from memory_bank.layout import user_folder
from memory_bank.repo import git


def shared_folder(tree: Path) -> Path:
    """Return the folder of a repository, which all its work trees share; it may not exist.

    It is named by the folder of git that the work trees share: that costs no call of git, and
    stays the same when a repository gets its first commit or a shallow clone the rest.
    """
    return user_folder("cache") / "code" / _hashed(git.common_folder(tree) or tree)


def tree_folder(tree: Path) -> Path:
    """Return the folder of one work tree; it may not exist."""
    return shared_folder(tree) / _hashed(tree)


def _hashed(path: Path) -> str:
    return hashlib.sha256(os.fsencode(path.resolve())).hexdigest()[:16]
