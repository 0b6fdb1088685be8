"""An index of one source: its manifest, its retrievers and its indexer."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property

from memory_bank import index_ids, sqlite
from memory_bank.config import Settings
from memory_bank.errors import Busy, IndexDamaged, StorageFailed
from memory_bank.index.backfill import Backfill
from memory_bank.index.report import Progress, SyncReport
from memory_bank.index.sync import Indexer
from memory_bank.layout import Layout, private_folder
from memory_bank.locks import WAIT, locked
from memory_bank.manifest import documents
from memory_bank.manifest.manifest import Manifest
from memory_bank.repairs import MANIFEST, Repaired, unreported
from memory_bank.retrievers import RetrieverSet
from memory_bank.source import Source

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
        self._dirty: frozenset[str] | None = None
        """Keys of documents that may have changed since the last sync; None if any may have."""
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
    ) -> SyncReport | None:
        """Index what changed, before a query; return None if nothing can have changed.

        Embeds for at most about that many seconds. Raises Busy when another process indexes for
        long.
        """
        reported = self._source.changes()
        if reported is None or self._dirty is None:
            self._dirty = None
        else:
            self._dirty |= reported
        with self.manifest.guarded():
            if self._dirty == frozenset() and self.complete():
                return None
        report = self.indexer.sync(
            seconds=seconds,
            wait=self._lock_wait(),
            thorough=False,
            keys=self._dirty,
            progress=progress,
        )
        self._dirty = frozenset()
        return report

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
        return _WAIT if documents.any_done(self.manifest) else WAIT


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
                if entry.name in index_ids.KEPT:
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
