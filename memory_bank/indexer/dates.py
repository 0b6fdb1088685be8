"""Dates of notes that say none: their first commit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from memory_bank.filenames import NOTE_SUFFIXES
from memory_bank.manifest import write
from memory_bank.manifest.database import meta
from memory_bank.notes.scan import is_text
from memory_bank.sqlite import Connection, chunked, transaction


class Dates:
    """First commits of a bank's notes, kept in the manifest; git is asked when HEAD moved."""

    def __init__(self, root: Path, base: Connection) -> None:
        self._root = root
        self._base = base

    def first_commits(self, paths: Sequence[str]) -> dict[str, float]:
        """Return when paths were first committed, as of the last refresh; some may not be."""
        return dict(
            chunked(self._base, "SELECT path, first FROM commits WHERE path IN ({})", paths)
        )

    def refresh(self, *, again: bool = False) -> bool:
        """Ask git what was committed since; return whether notes must be read again for it.

        What git could not say of a commit is asked `again` only when told to: a history that takes
        too long would keep every question waiting.
        """
        from memory_bank.repo import git

        tree = git.worktree(self._root)
        head = git.head(tree) if tree else None
        known = meta(self._base, write.HEAD)
        if tree is None or head is None or known == head:
            return False
        unanswered = f"{head} unanswered"
        if known == unanswered and not again:
            return False
        commits = git.first_commits(tree, self._root)
        with transaction(self._base):
            if commits is None:
                write.put_meta(self._base, write.HEAD, unanswered)
                return False
            first = {
                path: when
                for path, when in commits.items()
                if path.endswith(NOTE_SUFFIXES) and is_text(path)
            }
            return write.put_commits(self._base, head, first)
