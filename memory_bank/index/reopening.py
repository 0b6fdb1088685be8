"""Query an index whose files may be deleted, replaced or damaged meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from memory_bank.errors import Busy, IndexDamaged
from memory_bank.hints import Hint
from memory_bank.index.index import Index
from memory_bank.manifest.manifest import Manifest

_TRIES = 20
"""How often a query is repeated when other processes replace the index meanwhile."""


class IndexView(Protocol):
    """One generation of an index, as a query sees it."""

    index: Index
    manifest: Manifest


View = TypeVar("View", bound=IndexView)
Result = TypeVar("Result")


class ReopenedIndex(Generic[View]):
    """An index that is opened for a query, reopened if replaced, and repaired if damaged.

    Subclasses say how it is opened and rebuilt. It may be used from several threads: one works at a
    time.
    """

    def __init__(self) -> None:
        """Open nothing yet."""
        self.lock = threading.RLock()

    def opened(self) -> View:
        """Return the index, opened again when its files were deleted or replaced."""
        raise NotImplementedError

    def rebuild(self) -> None:
        """Remove the index, and build it again from its source."""
        raise NotImplementedError

    def read(self, ask: Callable[[View], Result]) -> Result:
        """Query the index; after damage, repair it and repeat the query once, then rebuild it.

        When another process replaced it meanwhile, the answer is dropped: the rows of two manifests
        don't mix.
        """
        with self.lock:
            repairs: list[Callable[[View], None]] = [self._repair, lambda _: self.rebuild()]
            for _ in range(_TRIES):
                view = None
                try:
                    view = self.opened()
                    with view.manifest.guarded():
                        found = ask(view)
                    if view.index.current():
                        return found
                except IndexDamaged:
                    if view is None or not view.index.current():
                        continue  # no damage: another process replaced it
                    if not repairs:
                        raise
                    repairs.pop(0)(view)
            raise Busy("other processes replace the index all the time", Hint.TRY_AGAIN)

    def _repair(self, view: View) -> None:
        """Refill what is damaged; rebuild all if the manifest is."""
        try:
            with view.manifest.guarded():
                view.index.repair()
        except IndexDamaged:
            if view.index.current():
                self.rebuild()
