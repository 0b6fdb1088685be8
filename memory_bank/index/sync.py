"""Bring the manifest and every retriever up to a source: in batches, under a lock.

A batch writes its rows as pending, fills and commits each retriever, then marks the rows done.
Whoever comes after a kill finds rows that are not done and puts them again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager
from itertools import islice

from memory_bank.index.backfill import Backfill
from memory_bank.index.changes import NONE, Changes, compare, compare_some
from memory_bank.index.report import Progress, SyncReport, silent
from memory_bank.locks import WAIT
from memory_bank.manifest import document_writer, documents, link_resolution
from memory_bank.manifest.manifest import Manifest
from memory_bank.repairs import INDEXING, Repaired
from memory_bank.retrievers.base import Entry
from memory_bank.source import Document, Read, Signature, Source, Unchanged, Unreadable

BATCH = 1000
"""Documents in one batch: the lock is let go after each, so that others get their turn."""
NEW = 5
"""How many times larger a batch is while nothing is indexed yet: tantivy then writes few large
segments instead of merging many small ones."""
_MANY = 400
"""Documents in one sync from which the manifest's log is emptied at its end."""
_SOURCE = "source"
"""Key of the fingerprint of the source that all documents were read by."""

Turn = Callable[[float], AbstractContextManager[None]]
"""Holds the lock of the index; waits so many seconds for it."""


class Indexer:
    """The one writer of an index."""

    def __init__(
        self, manifest: Manifest, source: Source, backfill: Backfill, turn: Turn, repaired: Repaired
    ) -> None:
        """Keep a manifest, and the retrievers that `backfill` fills, equal to a source."""
        self._manifest = manifest
        self._source = source
        self._backfill = backfill
        self._turn = turn
        self._repaired = repaired

    def sync(
        self,
        *,
        seconds: float = float("inf"),
        wait: float = WAIT,
        thorough: bool = True,
        keys: Collection[str] | None = None,
        progress: Progress | None = None,
    ) -> SyncReport:
        """Index whatever differs; embed for at most about that many seconds.

        Where it is known that other documents did not change, only those of `keys` are looked at.
        A thorough sync also has the source refresh what it depends on, and finds retrievers that
        lost entries. Raises Busy when another process indexes for longer than `wait` seconds,
        StorageFailed when the disk or a folder refuses; what was committed until then stays.
        """
        started = time.monotonic()
        report = SyncReport()
        progress = progress or silent
        with self._manifest.guarded():
            self._read_anew()
            changes = self._look(keys)
            if changes or not self._backfill.complete() or thorough:
                self._backfill.postpone(slow=not thorough)
                refreshed = self._source.refresh(again=thorough)
                if refreshed or changes or self._backfill.lacking():
                    self._work(report, wait, progress, None if refreshed else keys)
                if thorough:
                    self._backfill.check(progress)
                self._backfill.embed(report, seconds, progress)
                self._backfill.conclude(report)
        report.seconds = time.monotonic() - started
        return report

    def embed(self, seconds: float) -> SyncReport:
        """Embed what waits for about that many seconds; first fill what questions don't wait for.

        Raises Busy when another process indexes for long.
        """
        report = SyncReport()
        with self._manifest.guarded():
            if not self._backfill.complete():
                self._backfill.postpone(slow=False)
                if self._backfill.lacking():
                    self._work(report, WAIT, silent)
                self._backfill.embed(report, seconds, silent)
                self._backfill.conclude(report)
        return report

    def refresh(self) -> None:
        """Have the source refresh what its signatures depend on, and index what differs for it."""
        with self._manifest.guarded():
            if self._source.refresh(again=True):
                self._work(SyncReport(), WAIT, silent)

    def _read_anew(self) -> None:
        """Have every document read again when the source reads in another way than before."""
        if self._manifest.meta(_SOURCE) != self._source.fingerprint:
            with self._turn(WAIT), self._manifest.transaction():
                if self._manifest.meta(_SOURCE) is not None:
                    document_writer.forget_signatures(self._manifest)
                self._manifest.put_meta(_SOURCE, self._source.fingerprint)

    def _look(self, keys: Collection[str] | None) -> Changes:
        """Look at some documents, or at all where there is more to do than they tell."""
        if keys is not None and not self._manifest.unfinished():
            found = self._source.look(keys)
            changes = compare_some(self._manifest, found, keys) if found else None
            if changes is not None:
                return changes
        return compare(self._manifest, self._source.scan())

    def _work(
        self,
        report: SyncReport,
        wait: float,
        progress: Progress,
        keys: Collection[str] | None = None,
    ) -> None:
        """Index batch by batch, each document once: one of unknown signature counts as changed."""
        size = BATCH * (1 if documents.any_document(self._manifest) else NEW)
        done = 0
        met: set[str] = set()
        left: list[str] = []
        as_of = None
        changes = NONE
        found: Iterator[tuple[str, Read]] = iter(())
        while True:
            with self._turn(wait):
                self._backfill.fill(progress)
                # looked at again: another process may have done it while this one waited
                if as_of != (as_of := self._manifest.version()):
                    changes = self._look(keys)
                    left = [key for key in changes.changed if key not in met]
                    found, done = self._read(left), 0
                batch = dict(islice(found, size))
                self._batch(batch, changes, report)
            changes = Changes(changes.changed)
            met.update(batch)
            done += len(batch)
            progress("indexing", len(met), len(met) + len(left) - done)
            if done == len(left):
                break
        if len(met) >= _MANY:
            self._manifest.settle()

    def _read(self, keys: list[str]) -> Iterator[tuple[str, Read]]:
        """Read documents as far as they are not what is indexed."""
        known = document_writer.known_hashes(self._manifest, keys)
        for key in keys:
            yield key, self._source.read(key, known.get(key, ""))

    def _batch(self, found: Mapping[str, Read], changes: Changes, report: SyncReport) -> None:
        """Index one batch, and take what is gone out."""
        if self._manifest.unfinished():
            self._repaired(INDEXING)
        new = [
            (one, _signature(one.signature, changes, key))
            for key, one in found.items()
            if isinstance(one, Document)
        ]
        unreadable = {
            key: (one, one.signature) for key, one in found.items() if isinstance(one, Unreadable)
        }
        touched, entries = self._write(new, unreadable, changes)
        self._backfill.put(entries, touched)
        with self._manifest.transaction():
            same = {key: one for key, one in found.items() if isinstance(one, Unchanged)}
            document_writer.update_signatures(self._manifest, same)
            document_writer.finish(self._manifest, touched)
            document_writer.measure(self._manifest, len(entries))
        report.indexed += len(new)
        report.unindexed += len(unreadable)
        report.removed += len(changes.gone)

    def _write(
        self,
        new: list[tuple[Document, Signature]],
        unreadable: Mapping[str, tuple[Unreadable, Signature]],
        changes: Changes,
    ) -> tuple[list[int], list[Entry]]:
        """Write the manifest's rows, pending; return the numbers touched and entries to put."""
        manifest = self._manifest
        with manifest.transaction():
            self._backfill.begin()
            before = documents.numbers_of(manifest, [*(one.key for one, _ in new), *unreadable])
            names = link_resolution.names_held(manifest, [*before, *changes.gone])
            document_writer.mark_gone(manifest, changes.gone)
            put, entries = document_writer.put(manifest, new)
            put += document_writer.put_unreadable(manifest, unreadable)
            held = link_resolution.names_held(manifest, put)
            link_resolution.relink(manifest, put, names | held)
            if changes.refused is not None:
                document_writer.put_refused(manifest, changes.refused)
        return [*put, *changes.gone], entries


def _signature(own: Signature | None, changes: Changes, key: str) -> Signature:
    return changes.changed.get(key, "") if own is None else own
