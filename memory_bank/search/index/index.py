"""An index of one source: its manifest, its retrievers and its indexer."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Generic, Protocol, TypeVar

from memory_bank.base import paths, sqlite
from memory_bank.base.documents import Source
from memory_bank.base.errors import Busy, Hint, IndexDamaged, StorageFailed
from memory_bank.base.locks import WAIT, locked
from memory_bank.base.paths import Layout, private_folder
from memory_bank.base.repairs import MANIFEST, Repaired, unreported
from memory_bank.base.settings import Settings
from memory_bank.search.index.backfill import Backfill
from memory_bank.search.index.document_changes import Progress, SyncReport
from memory_bank.search.index.sync import Indexer
from memory_bank.search.manifest import document_rows, tables
from memory_bank.search.manifest.manifest import Manifest
from memory_bank.search.retrievers import RetrieverSet

EMBED_SECONDS = 1.0
"""Seconds that a query may spend on embedding new passages; the others wait for `sync`."""

_WAIT = 5.0
"""Seconds that a query waits for another process that indexes; if nothing is indexed yet, it waits
as long as a writer."""


class Index:
    """One generation of index files in a folder; `current` tells whether they are still there."""

    def __init__(
        self,
        place: Layout,
        source: Source,
        settings: Settings,
        *,
        repaired: Repaired = unreported,
    ) -> None:
        """Open the manifest, rebuilt if damaged; the rest is loaded when needed.

        `repaired` is called with what was damaged, missing or unfinished; not for a first index.
        """
        self._place = place
        self._source = source
        self._repaired = repaired
        self.manifest = _opened(place, repaired)
        self.retrievers = RetrieverSet(place.index, self.manifest.owner, settings)
        self._fingerprint = self.retrievers.fingerprint

    def current(self) -> bool:
        """Tell whether the manifest is still the file that was opened, and so is each model."""
        return self.manifest.current() and self.retrievers.fingerprint == self._fingerprint

    def close(self) -> None:
        """Close all files."""
        self.retrievers.close()
        self.manifest.close()

    def complete(self) -> bool:
        """Tell whether every retriever has all indexed passages."""
        return self._backfill.complete()

    def catch_up(
        self, seconds: float = EMBED_SECONDS, progress: Progress | None = None
    ) -> SyncReport:
        """Index what changed, before a query.

        Embeds for at most about that many seconds. Raises Busy when another process indexes for
        long.
        """
        return self.indexer.sync(
            seconds=seconds, wait=self._lock_wait(), thorough=False, progress=progress
        )

    def repair(self) -> None:
        """Refill the retrievers that are damaged; raise IndexDamaged when the manifest is."""
        self.manifest.check()
        damaged = False
        for retriever in self.retrievers.all()[0]:
            try:
                retriever.check()
            except IndexDamaged:
                with self.turn():
                    self._backfill.repair(retriever)
                damaged = True
        if damaged:
            self.indexer.sync(seconds=EMBED_SECONDS, thorough=False)

    def fill(self) -> None:
        """Fill an index that another process has made."""
        try:
            self.indexer.sync(seconds=EMBED_SECONDS, wait=self._lock_wait(), thorough=False)
        except Busy:
            return  # the answer lacks what the other process has not indexed yet

    @cached_property
    def indexer(self) -> Indexer:
        """The indexer of these files."""
        return Indexer(self.manifest, self._source, self._backfill, self.turn, self._repaired)

    @cached_property
    def _backfill(self) -> Backfill:
        return Backfill(
            self.manifest,
            self._source,
            self.retrievers.all,
            self.turn,
            fingerprint=self._fingerprint,
            repaired=self._repaired,
        )

    @contextmanager
    def turn(self, wait: float = WAIT) -> Iterator[None]:
        """Hold the lock of the index; raise IndexDamaged if the manifest was replaced.

        Another process may have rebuilt the index while this one waited, and entries of the old
        manifest must not get into the new retrievers.
        """
        folder = private_folder(self._place.index)
        with locked(folder, wait=wait, make=self._place.make_index):
            if not self.current():
                raise IndexDamaged(f"{self.manifest.file} was replaced", "it is opened again")
            yield

    def _lock_wait(self) -> float:
        return _WAIT if document_rows.any_done(self.manifest) else WAIT


def discard(place: Layout) -> None:
    """Remove the manifest, under the lock of the index."""
    with locked(place.index, make=place.make_index):
        sqlite.discard(place.manifest)


def empty(place: Layout) -> None:
    """Remove all files of the index but its id, under its lock; raise StorageFailed.

    Processes that have it open notice by the manifest, which goes first.
    """
    with locked(place.index, make=place.make_index):
        sqlite.discard(place.manifest)
        try:
            for entry in place.index.iterdir():
                if entry.name in paths.KEPT:
                    continue
                if entry.is_dir() and not entry.is_symlink():
                    shutil.rmtree(entry)
                else:
                    entry.unlink()
        except OSError as error:
            raise StorageFailed(
                f"{place.index} can't be emptied: {error.strerror}", "check its permissions"
            ) from error


def _opened(place: Layout, repaired: Repaired) -> Manifest:
    """Open the manifest; make or rebuild it under the lock."""
    file = place.manifest
    if file.exists():
        try:
            # made under the lock only: a process that removes the manifest also removes its
            # write-ahead log, which must not be that of a new one
            return Manifest(file, place.index_id, make=False)
        except IndexDamaged:
            pass
    with locked(place.index, make=place.make_index):
        rebuilt = not file.exists() and (place.index / "keyword").is_dir()
        try:
            manifest = Manifest(file, place.index_id)  # another process may have made it meanwhile
        except IndexDamaged:
            sqlite.discard(file)
            manifest = Manifest(file, place.index_id)
            rebuilt = True
    if rebuilt:
        repaired(MANIFEST)
    return manifest


def compared(ours: Index, fresh: Index) -> Iterator[str]:
    """Yield a description of each difference between an index and a fresh one.

    Each retriever must have exactly the passages of its manifest.
    """
    yield from tables.differences(ours.manifest, fresh.manifest)
    for side, index in (("index", ours), ("fresh index", fresh)):
        rows = document_rows.passage_rows(index.manifest)
        for retriever in index.retrievers.all()[0]:
            if not retriever.holds(rows):
                yield f"{retriever.name}: holds other passages than the {side} has"


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
