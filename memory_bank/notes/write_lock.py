"""The lock of a bank for one change, and the recovery of a change that was interrupted."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from memory_bank import notes
from memory_bank.filenames import JOURNAL_PREFIX
from memory_bank.locks import locked
from memory_bank.notes.folders import names_in
from memory_bank.notes.roots import Root, Roots
from memory_bank.notes.trash import TRASH


class WriteLock:
    """The locks of a bank's folder and of its private folder, for the threads of one process."""

    def __init__(self, roots: Roots, repaired: Callable[[], None] | None) -> None:
        """Lock the folders of `roots`; `repaired` is called after each recovery."""
        self._roots = roots
        self._repaired = repaired
        self._mutex = threading.RLock()
        self._held: ExitStack | None = None
        self._private_held = False

    @contextmanager
    def held(self, path: str = "") -> Iterator[None]:
        """Hold the bank's lock for one change, after finishing an interrupted one; reentrant.

        For a note at `path` in the private state, also hold the lock of that folder, which the
        repository's other work trees share.
        """
        with self._mutex:
            if self._held is not None:
                self._hold(path)
                yield
                return
            with locked(self._roots.bank.folder), ExitStack() as held_too:
                self._held = held_too
                try:
                    self._recover(self._roots.bank)
                    if self._roots.private is not None and self._interrupted(self._roots.private):
                        self.enter(self._roots.private)
                    self._hold(path)
                    yield
                finally:
                    self._held, self._private_held = None, False

    def _hold(self, path: str) -> None:
        if path and self._roots.is_private(path):
            self.enter(self._roots.home(path))

    def enter(self, root: Root) -> None:
        """Take the lock of the private folder, if it is that; the caller holds the bank's lock."""
        if root is not self._roots.private or self._private_held or self._held is None:
            return
        self._roots.private.make()
        self._held.enter_context(locked(root.folder, make=self._roots.private.make))
        self._private_held = True
        self._recover(root)

    def _recover(self, root: Root) -> None:
        """Finish or undo an interrupted change; the caller holds the lock."""
        if self._interrupted(root):
            notes.journal.recover(root.folder, root.folder / TRASH)
            if self._repaired is not None:
                self._repaired()

    def _interrupted(self, root: Root) -> bool:
        return any(name.startswith(JOURNAL_PREFIX) for name in names_in(root.folder, TRASH))

    def interrupted(self) -> bool:
        """Tell whether there is an interrupted change."""
        return any(map(self._interrupted, self._roots.written()))
