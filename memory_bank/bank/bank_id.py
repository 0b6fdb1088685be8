"""Compute the id of a bank, which names its private state on this machine."""

from __future__ import annotations

import os
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from memory_bank.base import lazy_pattern
from memory_bank.base.errors import StorageFailed
from memory_bank.base.paths import NOTES, Layout
from memory_bank.git import repository

QUEUE = "sessions.db"
"""File of the private state that is the queue of sessions."""

_IDS = "ids"
"""Folder beside the private states with the ids that the bank of each folder had."""

_ID = lazy_pattern(r"[0-9a-f]{16}")


def bank_id(place: Layout) -> str:
    """Return 16 hex digits: of the repository's first commit and the bank's path inside it.

    So work trees share the state; outside git, the hash is of the path. The id is cached in the
    private state, for this folder and repository, since git may be slow. A copy of a bank has the
    bank's id. Raises NoBank when the bank is gone.
    """
    place = place.origin
    tree = repository.find_worktree(place.root)
    where = b" %s %s" % (_signature(tree), os.fsencode(place.root))
    remembered = place.remembered()
    if _ID.fullmatch(remembered[:16].decode("ascii", "replace")) and remembered[16:] == where:
        return remembered[:16].decode()
    commit = repository.find_root_commit(tree) if tree else None
    by_path = _hash_name(os.fsencode(place.root))
    if tree is None or commit is None:
        identity = by_path
    else:
        below = os.fsencode(place.root.relative_to(tree).as_posix())
        identity = _hash_name(b"%s:%s" % (commit.encode(), below))
        _carry_over(place, by_path, identity)
    if commit or not tree:  # a repository without a commit will have another id soon
        with suppress(OSError):
            _record(place, remembered[:16].decode("ascii", "replace"), identity)
        with suppress(OSError, StorageFailed):  # git can be asked again
            place.make_index()
            place.remember(identity.encode() + where)
    return identity


def all_ids(place: Layout) -> list[str]:
    """Return the id of a bank and those that its folder had before."""
    return list(
        dict.fromkeys([bank_id(place), *filter(_ID.fullmatch, _read_recorded(place.origin))])
    )


def former_ids(place: Layout, current: str) -> list[str]:
    """Return other ids that the bank in this folder had, whose private state has sessions.

    A rewritten first commit gives a repository another id. The state may also be that of another
    repository, which was in this folder before.
    """
    return [
        recorded
        for recorded in _read_recorded(place)
        if recorded != current and _has_sessions(place.state(recorded)) and _ID.fullmatch(recorded)
    ]


def move_state(place: Layout, old: str, new: str) -> None:
    """Move the private state of an id to another one: all of it, else the notes that it lacks.

    Raises OSError.
    """
    before, now = place.state(old), place.state(new)
    if not now.exists():
        before.rename(now)
    else:
        _move_missing(before / NOTES, now / NOTES)


def _has_sessions(state: Path) -> bool:
    return (state / QUEUE).exists() or any((state / NOTES).rglob("*.md"))


def _read_recorded(place: Layout) -> list[str]:
    """Return the ids that were computed for the bank in this folder, the first one first."""
    try:
        return _record_file(place).read_text(encoding="utf-8").split()
    except (OSError, ValueError):
        return []


def _record(place: Layout, *ids: str) -> None:
    recorded = _read_recorded(place)
    fromkeys = list(dict.fromkeys([*recorded, *filter(_ID.fullmatch, ids)]))
    if fromkeys != recorded:
        file = _record_file(place)
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file.write_text("\n".join(fromkeys) + "\n", encoding="utf-8")


def _record_file(place: Layout) -> Path:
    return place.state(_IDS) / _hash_name(os.fsencode(place.root))


def _signature(tree: Path | None) -> bytes:
    """Return what identifies a repository; empty outside git."""
    if tree is None:
        return b""
    entry = tree / ".git"
    try:
        stat = (entry / "config" if entry.is_dir() else entry).stat()
    except OSError:
        return b"?"
    return b"%d:%d" % (stat.st_ino, stat.st_mtime_ns)


def _carry_over(place: Layout, old: str, new: str) -> None:
    """Move the state from before the repository's first commit to its new id."""
    if place.state(old).is_dir():
        with suppress(OSError):  # tried again when the id is asked of git the next time
            move_state(place, old, new)


def _move_missing(source: Path, target: Path) -> None:
    """Move the files of a folder that another one does not have, with their folders."""
    for folder, _, names in os.walk(source):
        goal = target / os.path.relpath(folder, source)
        goal.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name in names:
            if not (goal / name).exists():
                Path(folder, name).rename(goal / name)


def _hash_name(name: bytes) -> str:

    return sha256(name).hexdigest()[:16]
