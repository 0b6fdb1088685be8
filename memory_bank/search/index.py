"""An index of one source: its manifest, its retrievers and its indexer."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from memory_bank.base import paths, sqlite
from memory_bank.base.documents import (
    Document,
    Postponed,
    Read,
    Scan,
    Signature,
    Source,
    Unchanged,
    Unreadable,
)
from memory_bank.base.errors import Busy, Hint, IndexDamaged, IndexOutdated, StorageFailed
from memory_bank.base.locks import WAIT, hold_lock
from memory_bank.base.paths import Layout, private_folder
from memory_bank.base.repairs import INDEXING, MANIFEST, OUTDATED, Repaired, ignore_repair
from memory_bank.base.settings import Settings
from memory_bank.search.backfill import Backfill
from memory_bank.search.document_changes import (
    NONE,
    UNLIMITED,
    DocumentChanges,
    IndexLimits,
    Progress,
    SyncReport,
    compare,
    show_nothing,
)
from memory_bank.search.manifest import document_rows, link_rows, writer
from memory_bank.search.manifest.manifest import Manifest, yield_differences
from memory_bank.search.retrievers import RetrieverSet
from memory_bank.search.retrievers.base import IndexedPassage

if TYPE_CHECKING:  # start-up: to open an index searches nothing
    from memory_bank.search.candidates import Accesses
    from memory_bank.search.engine import Engine

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
        repaired: Repaired = ignore_repair,
        without: Collection[str] = (),
        limits: IndexLimits = UNLIMITED,
    ) -> None:
        """Open the manifest, rebuilt if damaged; the rest is loaded when needed.

        `repaired` is called with what was damaged, missing or unfinished; not for a first index.
        `without` are names of retrievers that it does not have. No more than `limits` allow is
        indexed.
        """
        self._limits = limits
        self._place = place
        self._source = source
        self._repaired = repaired
        self.manifest = _open_manifest(place, repaired)
        self.retrievers = RetrieverSet(place.index, self.manifest.owner, settings, without)
        self._fingerprint = self.retrievers.fingerprint

    def current(self) -> bool:
        """Tell whether the manifest is still the file that was opened, and so is each model."""
        return self.manifest.current() and self.retrievers.fingerprint == self._fingerprint

    def close(self) -> None:
        """Close all files."""
        self.retrievers.close()
        self.manifest.close()

    def catch_up(
        self,
        seconds: float = EMBED_SECONDS,
        progress: Progress | None = None,
        *,
        meaning: bool = True,
    ) -> SyncReport:
        """Index what changed, before a query.

        Embeds for at most about that many seconds; a few passages, only if the query is by
        `meaning`. Raises Busy when another process indexes for long.
        """
        return self.indexer.sync(
            seconds=seconds,
            wait=self._lock_wait(),
            thorough=False,
            progress=progress,
            meaning=meaning,
        )

    def repair(self) -> None:
        """Refill the retrievers that are damaged; raise IndexDamaged when the manifest is."""
        self.manifest.check()
        damaged = False
        for retriever in self.retrievers.all()[0]:
            try:
                retriever.check()
            except IndexDamaged:
                self._backfill.check_refillable(retriever)
                with self.turn():
                    self._backfill.repair(retriever)
                damaged = True
        if damaged:
            self.indexer.sync(seconds=EMBED_SECONDS, thorough=False)

    @cached_property
    def indexer(self) -> Indexer:
        """The indexer of these files."""
        return Indexer(
            self.manifest,
            self._source,
            self._backfill,
            self.turn,
            repaired=self._repaired,
            limits=self._limits,
        )

    @cached_property
    def _backfill(self) -> Backfill:
        return Backfill(
            self.manifest,
            self._source,
            self.retrievers.all,
            self.turn,
            fingerprint=self._fingerprint,
            repaired=self._repaired,
            limits=self._limits,
        )

    @contextmanager
    def turn(self, wait: float = WAIT) -> Iterator[None]:
        """Hold the lock of the index; raise IndexDamaged if the manifest was replaced.

        Another process may have rebuilt the index while this one waited, and entries of the old
        manifest must not get into the new retrievers.
        """
        folder = private_folder(self._place.index)
        with hold_lock(folder, wait=wait, make=self._place.make_index):
            if not self.current():
                raise IndexDamaged(f"{self.manifest.file} was replaced", "it is opened again")
            yield

    def _lock_wait(self) -> float:
        if self._limits:
            return self._limits.seconds
        return _WAIT if document_rows.any_done(self.manifest) else WAIT


def discard_manifest(place: Layout) -> None:
    """Remove the manifest, under the lock of the index."""
    with hold_lock(place.index, make=place.make_index):
        sqlite.discard(place.manifest)


def empty_index(place: Layout) -> None:
    """Remove all files of the index but its id, under its lock; raise StorageFailed.

    Processes that have it open notice by the manifest, which goes first.
    """
    with hold_lock(place.index, make=place.make_index):
        _remove_files(place)


def _remove_files(place: Layout) -> None:
    import shutil  # start-up: compressors come with it

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


def _open_manifest(place: Layout, repaired: Repaired) -> Manifest:
    """Open the manifest; make or rebuild it under the lock."""
    file = place.manifest
    if file.exists():
        try:
            # made under the lock only: a process that removes the manifest also removes its
            # write-ahead log, which must not be that of a new one
            return Manifest(file, place.index_id, make=False)
        except IndexDamaged:
            pass
    with hold_lock(place.index, make=place.make_index):
        again = MANIFEST if not file.exists() and (place.index / "keyword").is_dir() else ""
        try:
            manifest = Manifest(file, place.index_id)  # another process may have made it meanwhile
        except IndexDamaged as error:
            if isinstance(error, IndexOutdated):
                _remove_files(place)  # that version's other files too
                again = OUTDATED
            else:
                sqlite.discard(file)
                again = MANIFEST
            manifest = Manifest(file, place.index_id)
    if again:
        repaired(again)
    return manifest


def compare_indices(ours: Index, fresh: Index) -> Iterator[str]:
    """Yield a description of each difference between an index and a fresh one.

    Each retriever must have exactly the passages of its manifest.
    """
    yield from yield_differences(ours.manifest, fresh.manifest)
    for side, index in (("index", ours), ("fresh index", fresh)):
        rows = document_rows.passage_rows(index.manifest)
        for retriever in index.retrievers.all()[0]:
            if not retriever.holds(rows):
                yield f"{retriever.name}: holds other passages than the {side} has"


_TRIES = 20
"""How often a query is repeated when other processes replace the index meanwhile."""


class IndexView:
    """One generation of an index, as a query sees it."""

    def __init__(
        self, index: Index, source: Source, settings: Settings, accesses: Accesses
    ) -> None:
        """Look at an index; `accesses` are those of its documents and sections."""
        self.index = index
        self.manifest = index.manifest
        self.source = source
        self._settings = settings
        self._accesses = accesses

    @cached_property
    def engine(self) -> Engine:
        """The ranking."""
        from memory_bank.search.engine import Engine  # start-up: many questions rank nothing

        return Engine(self.manifest, self.index.retrievers, self._settings, self._accesses)


Result = TypeVar("Result")


class ReopenedIndex:
    """An index that is opened for a query, reopened if replaced, and repaired if damaged.

    Subclasses say how it is opened and rebuilt. It may be used from several threads: one works at a
    time.
    """

    def __init__(self) -> None:
        """Open nothing yet."""
        self.lock = threading.RLock()
        self._view: IndexView | None = None

    def opened(self) -> IndexView:
        """Return the index, opened again when its files were deleted or replaced."""
        raise NotImplementedError

    def rebuild(self) -> None:
        """Remove the index, and build it again from its source."""
        raise NotImplementedError

    def read(self, ask: Callable[[IndexView], Result]) -> Result:
        """Query the index; after damage, repair it and repeat the query once, then rebuild it.

        When another process replaced it meanwhile, the answer is dropped: the rows of two manifests
        don't mix.
        """
        with self.lock:
            repairs: list[Callable[[IndexView], None]] = [self._repair, lambda _: self.rebuild()]
            for _ in range(_TRIES):
                view = None
                try:
                    view = self.opened()
                    with view.manifest.guarded():
                        answer = ask(view)
                    if view.index.current():
                        return answer
                except IndexDamaged:
                    if view is None or not view.index.current():
                        continue  # no damage: another process replaced it
                    if not repairs:
                        raise
                    repairs.pop(0)(view)
            raise Busy("other processes replace the index all the time", Hint.TRY_AGAIN)

    def _drop(self) -> None:
        """Close all files; they are opened again when they are needed."""
        if self._view is not None:
            self._view.index.close()
            self._view = None

    def _repair(self, view: IndexView) -> None:
        """Refill what is damaged; rebuild all if the manifest is."""
        try:
            with view.manifest.guarded():
                view.index.repair()
        except IndexDamaged:
            if view.index.current():
                self.rebuild()


BATCH = 1000
"""Documents in one batch; the lock is released after each, so that other processes can index."""

_BATCH_BYTES = 8_000_000
"""Bytes of documents after which a batch is full: parsed, they take some fifteen times as much."""

FIRST_FACTOR = 5
"""Factor for the size of batches of a first index, so that tantivy writes few large segments
instead of merging many small ones."""

_LARGE = 400
"""Number of documents in one sync after which freed memory is returned to the system, and in the
end the manifest's write-ahead log is emptied."""

_SOURCE = "source"
"""Key of the source's fingerprint with which all documents were read."""

Turn = Callable[[float], AbstractContextManager[None]]
"""Holds the lock of the index; waits for it for at most that many seconds."""


class Indexer:
    """The writer of an index."""

    def __init__(
        self,
        manifest: Manifest,
        source: Source,
        backfill: Backfill,
        turn: Turn,
        *,
        repaired: Repaired,
        limits: IndexLimits,
    ) -> None:
        """Update a manifest, and the retrievers that `backfill` fills, from a source."""
        self._limits = limits
        self.left = 0
        """Documents that the last sync left to another process."""
        self._manifest = manifest
        self._source = source
        self._backfill = backfill
        self._turn = turn
        self._repaired = repaired
        self._compared: tuple[Scan, int, Collection[str]] | None = None
        """The last scan, the version of the manifest with which it was compared, and the keys that
        differed."""

    def sync(
        self,
        *,
        seconds: float = float("inf"),
        wait: float = WAIT,
        thorough: bool = True,
        progress: Progress | None = None,
        meaning: bool = True,
    ) -> SyncReport:
        """Index all changes; embed for at most about that many seconds.

        A thorough sync also refreshes the source and finds retrievers that lost entries. Raises
        Busy when another process indexes for longer than `wait` seconds, StorageFailed when the
        disk or a folder refuses; committed batches stay.
        """
        started = time.monotonic()
        self._limits.begin()
        self.left = 0
        thorough = thorough and not self._limits
        report = SyncReport()
        progress = progress or show_nothing
        with self._manifest.guarded():
            self._forget_if_source_changed()
            version = self._manifest.version()
            changes = self._find_changes()
            if changes or not self._backfill.complete() or thorough:
                self._backfill.postpone(slow=not thorough)
                if self._source.refresh(again=thorough) or self._backfill.needs_filling():
                    self._index(report, wait, progress)
                elif changes:
                    self._index(report, wait, progress, version, changes)
                if thorough:
                    self._backfill.check(progress)
                self._backfill.embed(report, seconds, progress, few=meaning)
                self._backfill.record_completeness(report)
        report.seconds = time.monotonic() - started
        return report

    def embed(self, seconds: float) -> SyncReport:
        """Fill the retrievers that queries don't wait for, and embed for about that many seconds.

        Raises Busy when another process indexes for long.
        """
        report = SyncReport()
        with self._manifest.guarded():
            if not self._backfill.complete():
                self._backfill.postpone(slow=False)
                if self._backfill.needs_filling():
                    self._index(report, WAIT, show_nothing)
                self._backfill.embed(report, seconds, show_nothing)
                self._backfill.record_completeness(report)
        return report

    def refresh(self) -> None:
        """Refresh the source, and index what changed by that."""
        with self._manifest.guarded():
            if self._source.refresh(again=True):
                self._index(SyncReport(), WAIT, show_nothing)

    def _forget_if_source_changed(self) -> None:
        """Have every document read again if the source's fingerprint changed."""
        if self._manifest.meta(_SOURCE) != self._source.fingerprint:
            with self._turn(WAIT), self._manifest.transaction():
                if self._manifest.meta(_SOURCE) is not None:
                    self._compared = None
                    writer.forget_signatures(self._manifest)
                self._manifest.put_meta(_SOURCE, self._source.fingerprint)

    def _find_changes(self) -> DocumentChanges:
        scan, version = self._source.scan(), self._manifest.version()
        keys = None
        if self._compared is not None and self._compared[1] == version:
            # only this indexer has written since: the signatures of what differed then
            logged, differing = scan.changed_since(self._compared[0]), self._compared[2]
            keys = None if logged is None else dict.fromkeys((*differing, *logged))
        changes = NONE if keys == {} else compare(self._manifest, scan, keys)
        differing = (*changes.changed, *changes.gone)
        self._compared = (scan, version, differing) if changes.refused is None else None
        return changes

    def _index(
        self,
        report: SyncReport,
        wait: float,
        progress: Progress,
        version: int | None = None,
        changes: DocumentChanges = NONE,
    ) -> None:
        """Index in batches, each document once; one without a signature counts as changed.

        `changes` are those since a `version` of the manifest; without, they are found here.
        """
        from memory_bank.search.models.weight_files import (
            return_freed_memory,
        )  # start-up: few questions index

        size = BATCH * (1 if document_rows.any_document(self._manifest) else FIRST_FACTOR)
        count = 0
        keys: set[str] = set()
        remaining = self._in_order(changes.changed)
        documents = self._read(remaining)
        while True:
            with self._turn(wait):
                self._backfill.fill(progress)
                # another process may have indexed it while this one waited
                if version != (version := self._manifest.version()):
                    changes = self._find_changes()
                    remaining = self._in_order(key for key in changes.changed if key not in keys)
                    documents, count = self._read(remaining), 0
                batch = self._next_batch(documents, size)
                self._batch(batch, changes, report)
            changes = DocumentChanges(changes.changed)
            keys.update(batch)
            count += len(batch)
            batch.clear()  # the next one is read before this name has it
            if len(keys) >= _LARGE:
                return_freed_memory()
            progress("indexing", len(keys), len(keys) + len(remaining) - count)
            if count == len(remaining) or self._limits.reached():
                break
        self.left += len(remaining) - count
        if len(keys) >= _LARGE:
            self._manifest.checkpoint()

    def _in_order(self, keys: Iterable[str]) -> list[str]:
        """Return keys in the order in which they are read: within limits, sessions before notes."""
        return list(keys)[:: -1 if self._limits else 1]

    def _next_batch(self, documents: Iterator[tuple[str, Read]], size: int) -> dict[str, Read]:
        """Read some documents: at most `size`, no more than the limits allow."""
        batch: dict[str, Read] = {}
        size_in_bytes = 0
        while len(batch) < size and size_in_bytes < _BATCH_BYTES:
            if batch and self._limits.reached():
                break
            key, document = next(documents, ("", None))
            if not key:
                break
            batch[key] = document
            self.left += isinstance(document, Postponed)
            size_in_bytes += document.size if isinstance(document, Document) else 0
        return batch

    def _read(self, keys: list[str]) -> Iterator[tuple[str, Read]]:
        """Read documents; those with the indexed hash are `Unchanged`."""
        hashes = writer.known_hashes(self._manifest, keys)
        for key in keys:
            yield key, self._source.read(key, hashes.get(key, ""))

    def _batch(
        self, reads: Mapping[str, Read], changes: DocumentChanges, report: SyncReport
    ) -> None:
        """Index one batch, and remove documents that are gone."""
        if self._manifest.unfinished():
            self._repaired(INDEXING)
        new = [
            (read, _signature(read.signature, changes, key))
            for key, read in reads.items()
            if isinstance(read, Document)
        ]
        unreadable = {
            key: (read, read.signature)
            for key, read in reads.items()
            if isinstance(read, Unreadable)
        }
        touched, entries = self._write(new, unreadable, changes)
        self._backfill.put(entries, touched)
        with self._manifest.transaction():
            unchangeds = {key: read for key, read in reads.items() if isinstance(read, Unchanged)}
            writer.update_signatures(self._manifest, unchangeds)
            writer.finish(self._manifest, touched)
            writer.update_mean_words(self._manifest, len(entries))
        report.indexed += len(new)
        report.unindexed += len(unreadable)
        report.removed += len(changes.gone)

    def _write(
        self,
        new: list[tuple[Document, Signature]],
        unreadable: Mapping[str, tuple[Unreadable, Signature]],
        changes: DocumentChanges,
    ) -> tuple[list[int], list[IndexedPassage]]:
        """Write rows as pending; return the numbers of changed documents and the entries to put."""
        manifest = self._manifest
        with manifest.transaction():
            self._backfill.mark_incomplete()
            before = document_rows.find_numbers(
                manifest, [*(document.key for document, _ in new), *unreadable]
            )
            gone = list(changes.gone.values())
            names = link_rows.read_names(manifest, [*before, *gone])
            writer.mark_gone(manifest, gone)
            put, entries = writer.put(manifest, new)
            put += writer.put_unreadable(manifest, unreadable)
            held_names = link_rows.read_names(manifest, put)
            link_rows.resolve_links(manifest, put, names | held_names)
            if changes.refused is not None:
                writer.put_refused(manifest, changes.refused)
        return [*put, *gone], entries


def _signature(own: Signature | None, changes: DocumentChanges, key: str) -> Signature:
    return changes.changed.get(key, "") if own is None else own
