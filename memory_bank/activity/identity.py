"""What this machine's private state of a bank is kept under."""

from __future__ import annotations

import re
from contextlib import suppress

from memory_bank.layout import Layout


def bank_id(place: Layout) -> str:
    """Return 16 hex digits: of the repository's first commit and the bank's path inside it.

    So work trees share the state; outside git it is the path. It is remembered in the index folder,
    since git may take long to tell. Raises NoBank when the bank is gone.
    """
    remembered = place.index / "bank-id"
    try:
        text = remembered.read_bytes()
    except OSError:
        text = b""
    if re.fullmatch(rb"[0-9a-f]{16}", text):
        return text.decode()
    from memory_bank.repo import git

    tree = git.worktree(place.root)
    commit = git.root_commit(tree) if tree else None
    by_path = _hashed(str(place.root))
    if tree is None or commit is None:
        found = by_path
    else:
        found = _hashed(f"{commit}:{place.root.relative_to(tree).as_posix()}")
        _carry_over(place, by_path, found)
    if commit or not tree:  # a repository without a commit will have another id soon
        place.make_index()
        with suppress(OSError):  # git can be asked again
            remembered.write_text(found, encoding="utf-8")
    return found


def _carry_over(place: Layout, old: str, new: str) -> None:
    """Keep what was counted before the repository had its first commit."""
    before, now = place.state(old), place.state(new)
    if before.is_dir() and not now.exists():
        with suppress(OSError):  # counts only nudge the ranking
            before.rename(now)


def _hashed(name: str) -> str:
    from hashlib import sha256  # start-up: OpenSSL comes with it, and ids are remembered

    return sha256(name.encode()).hexdigest()[:16]
