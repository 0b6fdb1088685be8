"""Read which commit is checked out, without starting git where its files say it."""

from __future__ import annotations

import re
from pathlib import Path

from memory_bank.repo import git

_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_REF = re.compile(r"ref: (refs/heads/[^\s~^:?*\[\\\x00-\x1f]+)")
_MOST = 1000


def checked_out(tree: Path) -> str:
    """Return the id of the commit that is checked out; empty if there is none."""
    return head(tree)[1]


def head(tree: Path) -> tuple[str, str]:
    """Return the text of HEAD, which names the branch, and the id of its commit; empty for none.

    Git is asked for a branch that has no file of its own, such as one that was packed.
    """
    folder = git.git_folder(tree)
    text = _read(folder / "HEAD") if folder is not None else ""
    if _ID.fullmatch(text):
        return text, text
    ref = _REF.fullmatch(text)
    if folder is not None and ref is not None and ".." not in ref[1]:
        common = _read(folder / "commondir")
        found = _read((folder / common if common else folder) / ref[1])
        if _ID.fullmatch(found):
            return text, found
    return text, git.head(tree) or ""


def _read(file: Path) -> str:
    try:
        with file.open(encoding="utf-8", errors="replace") as opened:
            return opened.read(_MOST).strip()
    except OSError:
        return ""
