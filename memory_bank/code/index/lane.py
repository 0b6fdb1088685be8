"""The index of one source of the code side: opened when needed, and repaired when damaged."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from memory_bank.base.documents import Source
from memory_bank.base.paths import Layout
from memory_bank.base.settings import Settings
from memory_bank.search.candidates import Accesses
from memory_bank.search.engine import Engine
from memory_bank.search.index.index import Index, ReopenedIndex, discard


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
        return Engine(self.manifest, self.index.retrievers, self._settings, self._accesses)


class CodeLane(ReopenedIndex[LaneView]):
    """A source with its index in the user's cache."""

    def __init__(
        self, root: Path, folder: Path, source: Source, settings: Settings, accesses: Accesses
    ) -> None:
        """Index a source of the work tree `root` in `folder`."""
        super().__init__()
        self.source = source
        self._place = Layout(root, folder)
        self._settings = settings
        self._accesses = accesses
        self._view: LaneView | None = None

    def empty(self) -> bool:
        """Tell whether there is no index, and nothing to make one of."""
        return not self._place.manifest.exists() and not self.source.scan().signatures

    def close(self) -> None:
        """Close all files; they are opened again when needed."""
        self._drop()
        self.source.close()

    def opened(self) -> LaneView:
        """Return the index, opened again when its files were deleted or replaced."""
        if self._view is not None and not self._view.index.current():
            self._drop()
            self.source.close()  # the new index must be compared with all documents
        if self._view is None:
            self._place.make_index()
            index = Index(self._place, self.source, self._settings)
            self._view = LaneView(index, self.source, self._settings, self._accesses)
        return self._view

    def rebuild(self) -> None:
        """Remove the manifest, and build the index again from the files."""
        self._drop()
        self._place.make_index()
        discard(self._place)
        self.source.close()
        self.opened().index.indexer.sync()

    def _drop(self) -> None:
        if self._view is not None:
            self._view.index.close()
            self._view = None
