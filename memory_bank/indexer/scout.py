"""Look at the files of a bank in a process of its own, while this one gets ready to answer.

A third of a cold question's time is the look at all files; the rest is loading what answers it.
Neither needs the other, and machines have more than one core. Nothing else is imported here: a
scout is sent before anything is loaded.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # `typing` would have to be loaded to say so
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from memory_bank.notes.scan import Scan


_END = b"\0"
"""Behind what fits into a pipe whether somebody reads it or not."""
_PART = 1 << 16


class Scout:
    """A child process that looks at the files of a bank."""

    def __init__(self, child: int, answer: int) -> None:
        """Wait for the child of that number to answer into a pipe."""
        self._child = child
        self._answer = answer
        self._more = b""

    @classmethod
    def sent(cls, find: Callable[[], str]) -> Self | None:
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
            os.close(answer)  # or it would be its own reader, and wait for itself
            _let_go()
            _tell(question, find())
        finally:
            os._exit(0)

    def fingerprint(self, root: os.PathLike[str]) -> str:
        """Wait, and return the fingerprint of the files of a bank.

        Empty when it could not look, looked at another bank, or met what a killed writer left.
        """
        said = b""
        while _END not in said and (part := os.read(self._answer, _PART)):
            said += part
        head, _, self._more = said.partition(_END)
        seen, _, where = os.fsdecode(head).partition(" ")
        return seen if where == os.fspath(root) else ""

    def scan(self) -> Scan | None:
        """Return what it saw, once it has told the fingerprint; None if it was killed meanwhile."""
        import marshal

        from memory_bank.notes.scan import Scan

        parts = [self._more]
        while part := os.read(self._answer, _PART):
            parts.append(part)
        found = Scan()
        try:
            found.files, found.refused = marshal.loads(b"".join(parts))  # noqa: S302  (our child's)
        except (EOFError, ValueError, TypeError):
            return None
        return found

    def dismiss(self) -> None:
        """Hear no more of it; nothing is left of it then."""
        from contextlib import suppress

        os.close(self._answer)
        with suppress(ChildProcessError):  # where the system forgets children that end
            os.waitpid(self._child, 0)


def _threads() -> int:
    with os.scandir("/proc/self/task") as tasks:
        return sum(1 for _ in tasks)


def _let_go() -> None:
    """Close the streams: who reads them waits for the end of the last process that has them."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nowhere, stream)


def _tell(answer: int, root: str) -> None:
    """Tell the fingerprint and the bank, and what it is of as long as somebody wants to know."""
    from memory_bank.notes.scan import dumped, fingerprint, scan

    found = scan(root)
    left = memoryview(dumped(found))
    seen = "" if found.leftover else fingerprint(left)
    os.write(answer, os.fsencode(f"{seen} {root}") + _END)
    while left:
        left = left[os.write(answer, left) :]
