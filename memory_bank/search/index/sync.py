"""Update the manifest and every retriever from a source, in batches under a lock.

A batch writes its rows as pending, fills and commits each retriever, then marks the rows done.
After a kill, the next sync finds the pending rows and repeats the batch.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from itertools import islice

from memory_bank.base.documents import Document, Read, Signature, Source, Unchanged, Unreadable
from memory_bank.base.locks import WAIT
from memory_bank.base.repairs import INDEXING, Repaired
from memory_bank.search.index.backfill import Backfill
from memory_bank.search.index.document_changes import (
    NONE,
    DocumentChanges,
    Progress,
    SyncReport,
    compare,
    silent,
)
from memory_bank.search.manifest import document_rows, link_rows, writer
from memory_bank.search.manifest.manifest import Manifest
from memory_bank.search.retrievers.base import IndexedPassage

BATCH = 1000
"""Documents in one batch; the lock is released after each, so that other processes can index."""

FIRST_FACTOR = 5
"""Factor for the size of batches of a first index, so that tantivy writes few large segments
instead of merging many small ones."""

_EMPTY_LOG_FROM = 400
"""Number of documents in one sync after which the manifest's write-ahead log is emptied."""

_SOURCE = "source"
"""Key of the source's fingerprint with which all documents were read."""

Turn = Callable[[float], AbstractContextManager[None]]
"""Holds the lock of the index; waits for it for at most that many seconds."""


class Indexer:
    """The writer of an index."""

    def __init__(
        self, manifest: Manifest, source: Source, backfill: Backfill, turn: Turn, repaired: Repaired
    ) -> None:
        """Update a manifest, and the retrievers that `backfill` fills, from a source."""
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
        progress: Progress | None = None,
    ) -> SyncReport:
        """Index all changes; embed for at most about that many seconds.

        A thorough sync also refreshes the source and finds retrievers that lost entries. Raises
        Busy when another process indexes for longer than `wait` seconds, StorageFailed when the
        disk or a folder refuses; committed batches stay.
        """
        started = time.monotonic()
        report = SyncReport()
        progress = progress or silent
        with self._manifest.guarded():
            self._forget_if_source_changed()
            changes = self._find_changes()
            if changes or not self._backfill.complete() or thorough:
                self._backfill.postpone(slow=not thorough)
                refreshed = self._source.refresh(again=thorough)
                if refreshed or changes or self._backfill.needs_filling():
                    self._index(report, wait, progress)
                if thorough:
                    self._backfill.check(progress)
                self._backfill.embed(report, seconds, progress)
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
                    self._index(report, WAIT, silent)
                self._backfill.embed(report, seconds, silent)
                self._backfill.record_completeness(report)
        return report

    def refresh(self) -> None:
        """Refresh the source, and index what changed by that."""
        with self._manifest.guarded():
            if self._source.refresh(again=True):
                self._index(SyncReport(), WAIT, silent)

    def _forget_if_source_changed(self) -> None:
        """Have every document read again if the source's fingerprint changed."""
        if self._manifest.meta(_SOURCE) != self._source.fingerprint:
            with self._turn(WAIT), self._manifest.transaction():
                if self._manifest.meta(_SOURCE) is not None:
                    writer.forget_signatures(self._manifest)
                self._manifest.put_meta(_SOURCE, self._source.fingerprint)

    def _find_changes(self) -> DocumentChanges:
        return compare(self._manifest, self._source.scan())

    def _index(self, report: SyncReport, wait: float, progress: Progress) -> None:
        """Index in batches, each document once; one without a signature counts as changed."""
        size = BATCH * (1 if document_rows.any_document(self._manifest) else FIRST_FACTOR)
        done = 0
        seen: set[str] = set()
        remaining: list[str] = []
        version = None
        changes = NONE
        found: Iterator[tuple[str, Read]] = iter(())
        while True:
            with self._turn(wait):
                self._backfill.fill(progress)
                # another process may have indexed it while this one waited
                if version != (version := self._manifest.version()):
                    changes = self._find_changes()
                    remaining = [key for key in changes.changed if key not in seen]
                    found, done = self._read(remaining), 0
                batch = dict(islice(found, size))
                self._batch(batch, changes, report)
            changes = DocumentChanges(changes.changed)
            seen.update(batch)
            done += len(batch)
            progress("indexing", len(seen), len(seen) + len(remaining) - done)
            if done == len(remaining):
                break
        if len(seen) >= _EMPTY_LOG_FROM:
            self._manifest.checkpoint()

    def _read(self, keys: list[str]) -> Iterator[tuple[str, Read]]:
        """Read documents; those with the indexed hash are `Unchanged`."""
        known = writer.known_hashes(self._manifest, keys)
        for key in keys:
            yield key, self._source.read(key, known.get(key, ""))

    def _batch(
        self, found: Mapping[str, Read], changes: DocumentChanges, report: SyncReport
    ) -> None:
        """Index one batch, and remove documents that are gone."""
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
            writer.update_signatures(self._manifest, same)
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
            before = document_rows.numbers_of(manifest, [*(one.key for one, _ in new), *unreadable])
            names = link_rows.names_of(manifest, [*before, *changes.gone])
            writer.mark_gone(manifest, changes.gone)
            put, entries = writer.put(manifest, new)
            put += writer.put_unreadable(manifest, unreadable)
            held = link_rows.names_of(manifest, put)
            link_rows.resolve_links(manifest, put, names | held)
            if changes.refused is not None:
                writer.put_refused(manifest, changes.refused)
        return [*put, *changes.gone], entries


def _signature(own: Signature | None, changes: DocumentChanges, key: str) -> Signature:
    return changes.changed.get(key, "") if own is None else own
