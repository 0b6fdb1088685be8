"""Keep notes of sessions out of git, unless the project shares them."""

from __future__ import annotations

from memory_bank.errors import MemoryBankError
from memory_bank.layout import HEADER, Layout, private_folder
from memory_bank.notes import files
from memory_bank.repo import git

SESSION = "session"
"""The source of a note that is for the work of one session only."""
_FOLDER = "sessions"
_LINES = frozenset(
    {"sessions", "sessions/", "/sessions", "/sessions/", "sessions/*", "sessions/**"}
)


def keep_out(place: Layout, path: str) -> None:
    """Put rules for git beside the first note in `sessions/`; call it before that is written.

    They hold whatever becomes of the bank's own `.gitignore`. Raises StorageFailed.
    """
    folder = place.root / _FOLDER
    ruled = not path.startswith(f"{_FOLDER}/") or (folder / ".gitignore").exists()
    if not ruled and not shared(place):
        private_folder(folder)


def shared(place: Layout) -> bool:
    """Tell whether the project shares its notes of sessions.

    It does if it tracks one, or if the line was taken out of the `.gitignore` that `init` wrote. A
    file that is gone, or another one, was not made to share anything.
    """
    if rule_removed(place):
        return True
    tree = git.worktree(place.root)
    return tree is not None and git.tracks(tree, place.root / _FOLDER)


def rule_removed(place: Layout) -> bool:
    """Tell whether the line was taken out of the `.gitignore` that `init` wrote."""
    try:
        lines = (files.read_in(place.root, ".gitignore") or b"").decode().splitlines()
    except (MemoryBankError, ValueError):
        return False
    return HEADER in lines and not _LINES.intersection(line.strip() for line in lines)


def warning(place: Layout, path: str, source_type: str = "") -> str | None:
    """Return what to say of a note that is there now, if git would track what it should not."""
    if not (path.startswith(f"{_FOLDER}/") or source_type == SESSION):
        return None
    if not (place.root / path).exists() or shared(place):
        return None  # not there: it is in the private state
    tree = git.worktree(place.root)
    if tree is None or not git.would_track(tree, place.root / path):
        return None
    return (
        "git would track this note of a session: no rule of a .gitignore keeps it out;"
        f" it belongs in {_FOLDER}/, with a {_FOLDER}/.gitignore that says `*`"
    )
