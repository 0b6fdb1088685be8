"""Dates that notes have from git: of their first commit, and of their last."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from memory_bank.filenames import NOTE_SUFFIXES
from memory_bank.manifest import write
from memory_bank.manifest.database import meta
from memory_bank.notes.scan import is_text
from memory_bank.sqlite import Connection, chunked, transaction


class Dates:
    """What git says of a bank's notes, kept in the manifest; it is asked when HEAD moved."""

    def __init__(self, root: Path, base: Connection) -> None:
        self._root = root
        self._base = base

    def of(self, paths: Sequence[str]) -> dict[str, tuple[float, bytes]]:
        """Return when paths were first committed, and their blobs in HEAD, as of the last refresh.

        Those that never were are left out.
        """
        sql = "SELECT path, first, blob FROM commits WHERE path IN ({})"
        rows = chunked(self._base, sql, paths)
        return {path: (first, blob) for path, first, blob in rows}

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
        unanswered = f"{head}{write.UNANSWERED}"
        if known == unanswered and not again:
            return False
        commits = git.history(tree, self._root)
        with transaction(self._base):
            if commits is None:
                write.put_meta(self._base, write.HEAD, unanswered)
                return False
            notes = {
                path: found
                for path, found in commits.items()
                if path.endswith(NOTE_SUFFIXES) and is_text(path)
            }
            return write.put_commits(self._base, head, notes)
