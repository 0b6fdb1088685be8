"""What this machine's private state of a bank is kept under."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

from memory_bank.layout import Layout
from memory_bank.repo import git


def bank_id(place: Layout) -> str:
    """Return 16 hex digits: of the repository's first commit and the bank's path inside it.

    So work trees share the state; outside git it is the path. Since git may take long to tell, the
    private state remembers it, for this folder and this repository only: nothing in the bank says
    it. Raises NoBank when the bank is gone.
    """
    tree = git.worktree(place.root)
    where = b" %s %s" % (_signature(tree), os.fsencode(place.root))
    remembered = place.remembered()
    if re.fullmatch(rb"[0-9a-f]{16}", remembered[:16]) and remembered[16:] == where:
        return remembered[:16].decode()
    commit = git.root_commit(tree) if tree else None
    by_path = _hashed(os.fsencode(place.root))
    if tree is None or commit is None:
        found = by_path
    else:
        below = os.fsencode(place.root.relative_to(tree).as_posix())
        found = _hashed(b"%s:%s" % (commit.encode(), below))
        _carry_over(place, by_path, found)
    if commit or not tree:  # a repository without a commit will have another id soon
        place.make_index()
        with suppress(OSError):  # git can be asked again
            place.remember(found.encode() + where)
    return found


def _signature(tree: Path | None) -> bytes:
    """Tell a repository from another that takes its place; empty outside git."""
    if tree is None:
        return b""
    entry = tree / ".git"
    try:
        found = (entry / "config" if entry.is_dir() else entry).stat()
    except OSError:
        return b"?"
    return b"%d:%d" % (found.st_ino, found.st_mtime_ns)


def _carry_over(place: Layout, old: str, new: str) -> None:
    """Keep what was counted before the repository had its first commit."""
    before, now = place.state(old), place.state(new)
    if before.is_dir() and not now.exists():
        with suppress(OSError):  # counts only nudge the ranking
            before.rename(now)


def _hashed(name: bytes) -> str:
    from hashlib import sha256  # start-up: OpenSSL comes with it, and ids are remembered

    return sha256(name).hexdigest()[:16]
