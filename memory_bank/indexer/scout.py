"""Look for changes in a process of its own, while this one gets ready to answer.

Half of a cold question's time is the look at all files and the other half is loading what answers
it. Neither needs the other, and machines have more than one core.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import threading
from pathlib import Path
from typing import Self

from memory_bank.indexer.changes import compare
from memory_bank.manifest.database import unfinished
from memory_bank.notes.scan import scan

_NOTHING_NEW = b"="


class Scout:
    """A child process that compares the files of a bank with its manifest."""

    def __init__(self, child: int, answer: int) -> None:
        """Wait for the child of that number to answer into a pipe."""
        self._child = child
        self._answer = answer

    @classmethod
    def sent(cls, root: Path, manifest: Path) -> Self | None:
        """Send one out; None where there is nothing to compare with, or no process to be had.

        A process with threads must not be copied: a lock that one of them holds stays locked.
        """
        if sys.platform != "linux" or threading.active_count() > 1 or not manifest.exists():
            return None
        answer, question = os.pipe()
        try:
            child = os.fork()
        except OSError:
            os.close(answer)
            os.close(question)
            return None
        if child:
            os.close(question)
            return cls(child, answer)
        try:  # nothing of this process may be left by the copy: no error, no output, no clean-up
            if _same(root, manifest):
                os.write(question, _NOTHING_NEW)
        finally:
            os._exit(0)

    def nothing_new(self) -> bool:
        """Wait, and tell whether all files are as indexed; false also when it could not look."""
        try:
            return os.read(self._answer, 1) == _NOTHING_NEW
        finally:
            os.close(self._answer)
            os.waitpid(self._child, 0)


def _same(root: Path, manifest: Path) -> bool:
    base = sqlite3.connect(f"{manifest.absolute().as_uri()}?mode=ro", uri=True)
    found = scan(root)
    return not (found.leftover or unfinished(base) or compare(base, found))
