"""Bring the manifest and every retriever up to the files: in batches, under a lock, healing.

A batch writes its rows as pending, fills and commits each retriever, then marks the rows done.
Whoever comes after a kill finds rows that are not done and puts them again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from itertools import islice

from memory_bank.errors import IndexDamaged
from memory_bank.index.backfill import Filling, Load
from memory_bank.index.changes import Changes, compare, compare_some
from memory_bank.index.dates import Dates
from memory_bank.index.reading import Asked, Found, Place, Same, Unread, read_all
from memory_bank.index.repairs import INDEXING, Healed, untold
from memory_bank.index.report import Progress, SyncReport, silent
from memory_bank.layout import Layout, private_folder
from memory_bank.locks import WAIT, locked
from memory_bank.manifest import link_resolution, write
from memory_bank.manifest.database import DONE, ETAG, unfinished
from memory_bank.manifest.rows import NoteRows
from memory_bank.notes.scan import look, scan
from memory_bank.retrievers.base import Entry, Retriever
from memory_bank.sqlite import Connection, chunked, guarded, settle, transaction, version

BATCH = 1000
"""Notes in one batch: the lock is let go after each, so that others get their turn."""
_MANY = 400
"""Notes in one sync from which the manifest's log is emptied at its end."""
NEW = 5
"""How many times larger a batch is while nothing is indexed yet and nobody waits for an answer from
it: tantivy then writes few large segments instead of merging many small ones."""


class Indexer:
    """The one writer of a bank's indices."""

    def __init__(
        self,
        layout: Layout,
        base: Connection,
        retrievers: Load,
        *,
        current: Callable[[], bool],
        signature: str,
        max_bytes: int,
        healed: Healed = untold,
    ) -> None:
        """Keep retrievers equal to the files of a bank; larger files than `max_bytes` are listed.

        The retrievers, and why one is missing, are asked for when there is work only; `signature`
        names what they are, so that a bank that was complete with them needs none to be loaded.
        `current` tells whether the manifest is still the bank's; `healed` is told what had to be
        finished or made anew.
        """
        self._layout = layout
        self._base = base
        self._current = current
        self._healed = healed
        self._place = Place(layout.root, layout.prefix, max_bytes)
        self._filling = Filling(
            base, self._place, retrievers, self._turn, signature=signature, healed=healed
        )
        self._dates = Dates(layout.root, base)

    def sync(
        self,
        *,
        seconds: float = float("inf"),
        wait: float = WAIT,
        thorough: bool = True,
        paths: Collection[str] | None = None,
        progress: Progress | None = None,
    ) -> SyncReport:
        """Index whatever differs; embed for at most about that many seconds.

        Where it is known that other files did not change, only those of `paths` are looked at. A
        thorough sync also asks git for the dates of notes that say none, and finds retrievers
        that lost entries. Raises Busy when another process indexes for longer than `wait` seconds,
        StorageFailed when the disk or a folder refuses; what was committed until then stays.
        """
        started = time.monotonic()
        report = SyncReport()
        progress = progress or silent
        with guarded(self._layout.manifest):
            changes = self._look(report, paths)
            if changes or not self.complete() or thorough:
                self._filling.postpone(slow=not thorough)
                if self._dates.refresh(again=thorough) or changes or self._filling.lacking():
                    self._work(report, wait, progress, paths)
                if thorough:
                    self._filling.check(progress)
                self._filling.embed(report, seconds, progress)
                self._filling.conclude(report)
        report.seconds = time.monotonic() - started
        return report

    def complete(self) -> bool:
        """Tell whether every retriever has everything that was indexed."""
        return self._filling.complete()

    def embed(self, seconds: float) -> SyncReport:
        """Embed what waits for about that many seconds; first fill what questions don't wait for.

        Raises Busy when another process indexes for long.
        """
        report = SyncReport()
        with guarded(self._layout.manifest):
            if not self.complete():
                self._filling.postpone(slow=False)
                if self._filling.lacking():
                    self._work(report, WAIT, silent)
                self._filling.embed(report, seconds, silent)
                self._filling.conclude(report)
        return report

    def redate(self) -> None:
        """Ask git anew for the dates of notes that say none."""
        with guarded(self._layout.manifest):
            if self._dates.refresh(again=True):
                self._work(SyncReport(), WAIT, silent)

    def mend(self, retriever: Retriever) -> None:
        """Make one damaged retriever anew from the files as the manifest knows them."""
        with self._turn():
            self._filling.mend(retriever)

    @contextmanager
    def _turn(self, wait: float = WAIT) -> Iterator[None]:
        """Hold the lock of the index; raise IndexDamaged when the manifest is not the bank's now.

        Another process may have made all anew while this one waited; entries of the old manifest
        must not come into the new retrievers.
        """
        folder = private_folder(self._layout.index)
        with locked(folder, wait=wait, make=self._layout.make_index):
            if not self._current():
                raise IndexDamaged(f"{self._layout.manifest} was replaced", "it is opened anew")
            yield

    def _look(self, report: SyncReport, paths: Collection[str] | None) -> Changes:
        """Look at some files, or at all where there is more to do than they tell."""
        if paths is not None and not unfinished(self._base):
            found = look(self._layout.root, paths)
            changes = compare_some(self._base, found, paths) if found else None
            if changes is not None:
                return changes
        every = scan(self._layout.root)
        report.leftover = every.leftover
        return compare(self._base, every)

    def _work(
        self,
        report: SyncReport,
        wait: float,
        progress: Progress,
        paths: Collection[str] | None = None,
    ) -> None:
        """Index batch by batch, each file once: one of unknown stamp still counts as changed."""
        size = BATCH * (1 if self._anything() else NEW)
        done = 0
        met: set[str] = set()
        as_of = None
        changes = Changes({}, (), None)
        with ExitStack() as open_:
            while True:
                with self._turn(wait):
                    self._filling.fill(progress)
                    # looked at again: another process may have done it while this one waited
                    if as_of != (as_of := version(self._base)):
                        open_.close()
                        changes = self._look(report, paths)
                        left = [path for path in changes.changed if path not in met]
                        found = open_.enter_context(closing(self._read(left)))
                        done = 0
                    batch = dict(islice(found, size))
                    self._batch(batch, changes, report)
                    changes = Changes({}, (), None)
                met.update(batch)
                done += len(batch)
                progress("indexing", len(met), len(met) + len(left) - done)
                if done == len(left):
                    break
        if len(met) >= _MANY:
            settle(self._base)

    def _anything(self) -> bool:
        (last,) = self._base.execute("SELECT max(id) FROM notes").fetchone()
        return last is not None

    def _read(self, paths: Sequence[str]) -> Generator[tuple[str, Found]]:
        """Read files as far as they are not what is indexed."""
        etags = dict(
            chunked(
                self._base,
                f"SELECT path, {ETAG} FROM notes WHERE state = {DONE} AND path IN ({{}})",
                paths,
            )
        )
        commits = self._dates.of(paths)
        asked = [Asked(path, etags.get(path, ""), *commits.get(path, ())) for path in paths]
        return read_all(self._place, asked)

    def _batch(self, found: Mapping[str, Found], changes: Changes, report: SyncReport) -> None:
        """Index one batch of files, and take the gone ones out."""
        if unfinished(self._base):
            self._healed(INDEXING)
        notes = [one for one in found.values() if isinstance(one, NoteRows)]
        unread = {path: one for path, one in found.items() if isinstance(one, Unread)}
        touched, entries = self._write(notes, unread, changes)
        self._filling.put(entries, touched)
        with transaction(self._base):
            write.restamp(
                self._base,
                ((*one, path) for path, one in found.items() if isinstance(one, Same)),
            )
            write.finish(self._base, touched)
            write.measure(self._base, len(entries))
        report.indexed += len(notes)
        report.unindexed += len(unread)
        report.removed += len(changes.gone)

    def _write(
        self, notes: Sequence[NoteRows], unread: Mapping[str, Unread], changes: Changes
    ) -> tuple[list[int], list[Entry]]:
        """Write the manifest's rows, pending; return the numbers touched and entries to put."""
        base = self._base
        with transaction(base):
            self._filling.begin()
            before = link_resolution.numbers(base, [*(note.path for note in notes), *unread])
            names = link_resolution.names_held(base, [*before, *changes.gone])
            write.mark_gone(base, changes.gone)
            put, entries = write.put(base, notes)
            put += write.put_unindexed(base, unread)
            link_resolution.relink(base, put, names | link_resolution.names_held(base, put))
            if changes.refused is not None:
                write.put_refused(base, changes.refused)
        return [*put, *changes.gone], entries
