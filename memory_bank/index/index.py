"""An index of one source: its manifest, its retrievers, and what keeps both equal to the source."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property

from memory_bank import sqlite
from memory_bank.config import Settings
from memory_bank.errors import Busy, IndexDamaged
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
"""How long a question may embed what is new before it is answered; the rest waits for `sync`."""
_WAIT = 5.0
"""How long a question waits for another process that indexes, before it is answered from what is
there; where nothing is there yet, it waits as a writer does."""


class Index:
    """One generation of index files in a folder; `current` tells whether they still are there."""

    def __init__(
        self,
        place: Layout,
        source: Source,
        settings: Settings,
        *,
        repaired: Repaired = unreported,
    ) -> None:
        """Open the manifest, made again when it is damaged; the rest is loaded when needed.

        `repaired` is told what was damaged, missing or cut short; a first index is no repair.
        """
        self._place = place
        self._source = source
        self._repaired = repaired
        self._dirty: frozenset[str] | None = None
        """Keys of what changed since the index was equal to the source; None: anything may have."""
        self.manifest = _opened(place, repaired)
        self.retrievers = RetrieverSet(place.index, self.manifest.owner, settings)

    def current(self) -> bool:
        """Tell whether the manifest is still the file that was opened."""
        return self.manifest.current()

    def close(self) -> None:
        """Let go of all files."""
        self.retrievers.close()
        self.manifest.close()

    def complete(self) -> bool:
        """Tell whether every retriever has everything that was indexed."""
        return self._backfill.complete()

    def catch_up(
        self, seconds: float = EMBED_SECONDS, progress: Progress | None = None
    ) -> SyncReport | None:
        """Index what changed, for a question; None when it is known that nothing did.

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
            wait=self._patience(),
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
        """Fill an index that another process made, or is about to fill."""
        try:
            self.indexer.sync(seconds=EMBED_SECONDS, wait=self._patience(), thorough=False)
        except Busy:
            return  # the answer will lack what the other one has not done yet

    @cached_property
    def indexer(self) -> Indexer:
        """The writer of these files."""
        return Indexer(self.manifest, self._source, self._backfill, self.turn, self._repaired)

    @cached_property
    def _backfill(self) -> Backfill:
        return Backfill(
            self.manifest,
            self._source,
            self.retrievers.all,
            self.turn,
            fingerprint=self.retrievers.fingerprint,
            repaired=self._repaired,
        )

    @contextmanager
    def turn(self, wait: float = WAIT) -> Iterator[None]:
        """Hold the lock of the index; raise IndexDamaged when the manifest is not the file now.

        Another process may have made all again while this one waited; entries of the old manifest
        must not come into the new retrievers.
        """
        folder = private_folder(self._place.index)
        with locked(folder, wait=wait, make=self._place.make_index):
            if not self.current():
                raise IndexDamaged(f"{self.manifest.file} was replaced", "it is opened again")
            yield

    def _patience(self) -> float:
        return _WAIT if documents.any_done(self.manifest) else WAIT


def discard(place: Layout) -> None:
    """Remove the manifest, when no other process is in the middle of a batch."""
    with locked(place.index, make=place.make_index):
        sqlite.discard(place.manifest)


def _opened(place: Layout, repaired: Repaired) -> Manifest:
    """Open the manifest; one process makes it, or makes it again when it is damaged."""
    file = place.manifest
    if file.exists():
        try:
            # one that goes meanwhile is made under the lock only: who removes it removes its
            # write-ahead log too, and must not meet that of a new one
            return Manifest(file, place.index_id, make=False)
        except IndexDamaged:
            pass
    with locked(place.index, make=place.make_index):
        again = not file.exists() and (place.index / "keyword").is_dir()
        try:
            manifest = Manifest(file, place.index_id)  # as another process left it meanwhile
        except IndexDamaged:
            sqlite.discard(file)
            manifest = Manifest(file, place.index_id)
            again = True
    if again:
        repaired(MANIFEST)
    return manifest
