"""Look for changes in a process of its own, while this one gets ready to answer.

A third of a cold question's time is the look at all files; the rest is loading what answers it.
Neither needs the other, and machines have more than one core. Nothing else is imported here: a
scout is sent before anything is loaded.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from pathlib import Path

    from memory_bank.layout import Layout


class Scout:
    """A child process that compares the files of a bank with its manifest."""

    def __init__(self, child: int, answer: int) -> None:
        """Wait for the child of that number to answer into a pipe."""
        self._child = child
        self._answer = answer

    @classmethod
    def sent(cls, find: Callable[[], Layout]) -> Self | None:
        """Send one out to the bank that `find` tells it; None where there is no process to be had.

        A process with threads must not be copied: a lock that one of them holds stays locked.
        """
        if sys.platform != "linux" or _threads() > 1:
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
            _let_go()
            place = find()
            if _same(place):
                os.write(question, os.fsencode(place.root))
        finally:
            os._exit(0)

    def nothing_new(self, root: Path) -> bool:
        """Wait, and tell whether all files of a bank are as indexed.

        False also when it could not look, or looked at another bank.
        """
        found = b""
        try:
            while part := os.read(self._answer, 4096):
                found += part
        finally:
            os.close(self._answer)
            os.waitpid(self._child, 0)
        return found == os.fsencode(root)


def _threads() -> int:
    with os.scandir("/proc/self/task") as tasks:
        return sum(1 for _ in tasks)


def _let_go() -> None:
    """Close the streams: who reads them waits for the end of the last process that has them."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nowhere, stream)


def _same(place: Layout) -> bool:
    import sqlite3

    from memory_bank.indexer.changes import compare
    from memory_bank.manifest.database import unfinished
    from memory_bank.notes.scan import scan

    base = sqlite3.connect(f"{place.manifest.absolute().as_uri()}?mode=ro", uri=True)
    found = scan(place.root)
    return not (found.leftover or unfinished(base) or compare(base, found))
