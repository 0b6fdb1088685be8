"""The index of one source of the code side: opened when needed, and repaired when damaged."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from memory_bank.config import Settings
from memory_bank.errors import Busy, IndexDamaged
from memory_bank.hints import Hint
from memory_bank.index.index import Index, discard
from memory_bank.layout import Layout
from memory_bank.source import Source

if TYPE_CHECKING:
    from memory_bank.search.candidates import Accesses
    from memory_bank.search.engine import Engine

_TRIES = 20
"""How often a query is repeated when other processes replace the index meanwhile."""

Result = TypeVar("Result")


class LaneView:
    """One generation of a lane's index, as a query sees it."""

    def __init__(
        self, index: Index, source: Source, settings: Settings, accesses: Accesses
    ) -> None:
        """Look at an index."""
        self.index = index
        self.manifest = index.manifest
        self.source = source
        self._settings = settings
        self._accesses = accesses

    @cached_property
    def engine(self) -> Engine:
        """The ranking."""
        from memory_bank.search.engine import Engine  # start-up: lists rank nothing

        return Engine(self.manifest, self.index.retrievers, self._settings, self._accesses)


class CodeLane:
    """A source with its index in the user's cache."""

    def __init__(
        self, root: Path, folder: Path, source: Source, settings: Settings, accesses: Accesses
    ) -> None:
        """Index a source of the work tree `root` in `folder`."""
        self.source = source
        self._place = Layout(root, folder)
        self._settings = settings
        self._accesses = accesses
        self._view: LaneView | None = None
        self._lock = threading.RLock()

    def read(self, ask: Callable[[LaneView], Result]) -> Result:
        """Query the index; after damage, repair it and repeat the query once, then rebuild it.

        It may be called from several threads: one queries at a time.
        """
        with self._lock:
            return self._read(ask)

    def _read(self, ask: Callable[[LaneView], Result]) -> Result:
        repairs = [self._repair, self._rebuild]
        for _ in range(_TRIES):
            view = None
            try:
                view = self._opened()
                with view.manifest.guarded():
                    found = ask(view)
                if view.index.current():
                    return found
            except IndexDamaged:
                if view is None or not view.index.current():
                    continue  # another process replaced it
                if not repairs:
                    raise
                repairs.pop(0)(view)
        raise Busy("other processes replace the index all the time", Hint.TRY_AGAIN)

    def close(self) -> None:
        """Close all files; they are opened again when needed."""
        self._drop()
        self.source.close()

    def _opened(self) -> LaneView:
        if self._view is not None and not self._view.index.current():
            self._drop()
            self.source.close()  # the new index must be compared with all documents
        if self._view is None:
            self._place.make_index()
            index = Index(self._place, self.source, self._settings)
            self._view = LaneView(index, self.source, self._settings, self._accesses)
        return self._view

    def _repair(self, view: LaneView) -> None:
        try:
            with view.manifest.guarded():
                view.index.repair()
        except IndexDamaged:
            if view.index.current():
                self._rebuild(view)

    def _rebuild(self, _: LaneView) -> None:
        self._drop()
        self._place.make_index()
        discard(self._place)
        self.source.close()
        self._opened().index.indexer.sync()

    def _drop(self) -> None:
        if self._view is not None:
            self._view.index.close()
            self._view = None
