"""Keep the set of notes that changed since an index was brought up to the files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memory_bank.index.inotify import InotifyQueue


class DirtySet:
    """The notes that changed between two questions, as far as the system reports them.

    The first question scans the files; from the second on the kernel's queue is read, where there
    is one.
    """

    def __init__(self, root: Path) -> None:
        """Watch nothing yet."""
        self._root = root
        self._queue: InotifyQueue | None = None
        self._asked = self._unavailable = False
        self._paths: frozenset[str] | None = None
        self._known: object = None

    def update(self) -> None:
        """Add what was reported since the last call."""
        reported = self._queue.read() if self._queue else None
        if reported is None:
            self._paths = None
            self._watch()
        elif self._paths is not None:
            self._paths |= reported

    def paths(self, index: object) -> frozenset[str] | None:
        """Return the notes that an index does not have as they are now; None: any may be."""
        return self._paths if index is self._known else None

    def clear(self, index: object) -> None:
        """Forget what was reported up to the last `update`: an index has it."""
        self._paths, self._known = frozenset(), index

    def close(self) -> None:
        """Forget all, and watch nothing."""
        if self._queue is not None:
            self._queue.close()
            self._queue = None
        self._asked = self._unavailable = False
        self._paths = self._known = None

    def _watch(self) -> None:
        if self._queue is not None:
            self._queue.close()
            self._queue = None
        if self._asked and not self._unavailable:
            from memory_bank.index.inotify import InotifyQueue

            self._queue = InotifyQueue.at(self._root)
            self._unavailable = self._queue is None
        self._asked = True
