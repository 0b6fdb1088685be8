"""Bring the manifest and every retriever up to the files: in batches, under a lock, healing.

A batch writes its rows as pending, fills and commits each retriever, then marks the rows done.
Whoever comes after a kill finds rows that are not done and puts them again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import islice

from memory_bank.errors import EmbedderUnavailable, IndexDamaged
from memory_bank.indexer.changes import COMPLETE, Changes, compare, compare_some, complete
from memory_bank.indexer.dates import Dates
from memory_bank.indexer.reading import Asked, Found, Place, Same, Unread, read_all
from memory_bank.layout import Layout, private_folder
from memory_bank.locks import WAIT, locked
from memory_bank.manifest import resolve, write
from memory_bank.manifest.database import DONE, PENDING, meta, unfinished
from memory_bank.manifest.rows import NoteRows
from memory_bank.notes.scan import look, scan
from memory_bank.retrievers.base import Entry, Retriever
from memory_bank.sqlite import Connection, chunked, guarded, settle, transaction

BATCH = 1000
"""Notes in one batch: the lock is let go after each, so that others get their turn."""
NEW = 5
"""How many times larger a batch is while nothing is indexed yet and nobody waits for an answer from
it: tantivy then writes few large segments instead of merging many small ones."""
MANY = 400
"""Files from which starting processes, a tenth of a second, is worth its while."""
_COMMITS = 4
"""Retrievers that commit at a time."""
_AT_ONCE = 2000
"""Passages up to which a question waits for a slow retriever to be filled anew."""
_FEW = 16
"""Passages that are embedded at once, however little time there is."""
_ONE_BATCH = 0.001
_EMBED_TURN = 2.0
"""Seconds of embedding under one lock."""

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is."""


@dataclass(slots=True)
class SyncReport:
    """What one sync did."""

    indexed: int = 0
    removed: int = 0
    unindexed: int = 0
    refilled: list[str] = field(default_factory=list)
    """Retrievers that were missing, broken or of another version, and were filled again."""
    healed: bool = False
    """A batch that a killed process had begun was finished."""
    waiting: int = 0
    """Passages that have no vector yet."""
    problem: str = ""
    """Why meaning can't be indexed now, if so."""
    leftover: list[str] = field(default_factory=list)
    """Temporary files that were met among the notes."""
    seconds: float = 0.0


class Indexer:
    """The one writer of a bank's indices."""

    def __init__(
        self,
        layout: Layout,
        base: Connection,
        retrievers: Callable[[], tuple[Sequence[Retriever], str]],
        *,
        current: Callable[[], bool],
        signature: str,
        max_bytes: int,
    ) -> None:
        """Keep retrievers equal to the files of a bank; larger files than `max_bytes` are listed.

        The retrievers, and why one is missing, are asked for when there is work only; `signature`
        names what they are, so that a bank that was complete with them needs none to be loaded.
        `current` tells whether the manifest is still the bank's.
        """
        self._layout = layout
        self._base = base
        self._load = retrievers
        self._current = current
        self._signature = signature
        self._place = Place(str(layout.root), layout.prefix, max_bytes)
        self._missing = ""
        self._postponed: tuple[Retriever, ...] = ()
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
        progress = progress or _silent
        with guarded(self._layout.manifest):
            changes = self._look(report, paths)
            if changes or not self.complete() or thorough:
                self._postponed = () if thorough else self._slow_to_fill()
                if self._dates.refresh() or changes or self._unfilled():
                    self._work(report, wait, progress, paths)
                if thorough:
                    self._check(report, progress)
                self._embed(report, seconds, progress)
                self._conclude(report)
        report.seconds = time.monotonic() - started
        return report

    def complete(self) -> bool:
        """Tell whether every retriever has everything that was indexed."""
        return complete(self._base, self._signature)

    def embed(self, seconds: float) -> SyncReport:
        """Embed what waits for about that many seconds; first fill what questions don't wait for.

        Raises Busy when another process indexes for long.
        """
        report = SyncReport()
        with guarded(self._layout.manifest):
            if not self.complete():
                self._postponed = ()
                if self._unfilled():
                    self._work(report, WAIT, _silent)
                self._embed(report, seconds, _silent)
                self._conclude(report)
        return report

    def redate(self) -> None:
        """Ask git anew for the dates of notes that say none."""
        with guarded(self._layout.manifest):
            if self._dates.refresh():
                self._work(SyncReport(), WAIT, _silent)

    def refill(self, retriever: Retriever, progress: Progress | None = None) -> None:
        """Make one retriever anew from the files as the manifest knows them."""
        with self._turn():
            self._refill(retriever, progress or _silent)

    @contextmanager
    def _turn(self, wait: float = WAIT) -> Iterator[None]:
        """Hold the lock of the index; raise IndexDamaged when the manifest is not the bank's now.

        Another process may have made all anew while this one waited; entries of the old manifest
        must not come into the new retrievers.
        """
        with locked(private_folder(self._layout.index), wait=wait):
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
        seen: set[str] = set()
        version = None
        changes = Changes({}, (), None)
        with ExitStack() as reading:
            while True:
                with self._turn(wait):
                    for retriever in self._unfilled():
                        self._refill(retriever, progress)
                        report.refilled.append(retriever.name)
                    # looked at again: another process may have done it while this one waited
                    if version != (version := self._version()):
                        reading.close()
                        changes = self._look(report, paths)
                        left = [path for path in changes.changed if path not in seen]
                        found = reading.enter_context(closing(self._read(left)))
                        done = 0
                    batch = dict(islice(found, size))
                    self._batch(batch, changes, report)
                    changes = Changes({}, (), None)
                seen.update(batch)
                done += len(batch)
                progress("indexing", len(seen), len(seen) + len(left) - done)
                if done == len(left):
                    break
        if len(seen) >= MANY:
            settle(self._base)

    def _anything(self) -> bool:
        (last,) = self._base.execute("SELECT max(id) FROM notes").fetchone()
        return last is not None

    def _version(self) -> int:
        """Return what changes when another connection changes the manifest."""
        return int(self._base.execute("PRAGMA data_version").fetchone()[0])

    def _read(self, paths: Sequence[str]) -> Generator[tuple[str, Found]]:
        """Read files as far as they are not what is indexed."""
        etags = dict(
            chunked(
                self._base,
                f"SELECT path, etag FROM notes WHERE state = {DONE} AND path IN ({{}})",
                paths,
            )
        )
        commits = self._dates.first_commits(paths)
        asked = [Asked(path, etags.get(path, ""), commits.get(path)) for path in paths]
        return self._answers(asked)

    def _answers(self, asked: Sequence[Asked]) -> Generator[tuple[str, Found]]:
        if len(asked) < MANY:
            return read_all(self._place, asked)
        from memory_bank.indexer.readers import read_many

        return read_many(self._place, asked)

    def _batch(self, found: Mapping[str, Found], changes: Changes, report: SyncReport) -> None:
        """Index one batch of files, and take the gone ones out."""
        report.healed |= unfinished(self._base)
        notes = [one for one in found.values() if isinstance(one, NoteRows)]
        unread = {path: one for path, one in found.items() if isinstance(one, Unread)}
        touched, entries = self._write(notes, unread, changes)
        self._fill(entries, touched)
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
            self._put_complete("")
            before = resolve.numbers(base, [*(note.path for note in notes), *unread])
            names = resolve.names_held(base, [*before, *changes.gone])
            write.mark_gone(base, changes.gone)
            put, entries = write.put(base, notes)
            put += write.put_unindexed(base, unread)
            resolve.relink(base, put, names | resolve.names_held(base, put))
            if changes.refused is not None:
                write.put_refused(base, changes.refused)
        return [*put, *changes.gone], entries

    def _fill(self, entries: Sequence[Entry], touched: Sequence[int]) -> None:
        """Put a batch into every retriever; one that turns out broken is made anew.

        All are given the batch before any commits, and commit side by side: tantivy works, or
        waits for the disk, meanwhile.
        """
        if not touched:
            return
        from concurrent.futures import ThreadPoolExecutor  # start-up: looking needs no threads

        with ExitStack() as unless_committed:
            for retriever in self._active():
                unless_committed.callback(retriever.close)
                self._mended(retriever, partial(retriever.put, entries, touched))
            with ThreadPoolExecutor(_COMMITS, "memory-bank-commit") as pool:
                commits = [(one, pool.submit(one.commit)) for one in self._active()]
            for retriever, commit in commits:
                self._mended(retriever, commit.result)
            unless_committed.pop_all()

    def _mended(self, retriever: Retriever, work: Callable[[], None]) -> None:
        try:
            work()
        except IndexDamaged:
            self._refill(retriever, _silent)

    def _unfilled(self) -> list[Retriever]:
        return [r for r in self._active() if not self._filled(r)]

    def _filled(self, retriever: Retriever) -> bool:
        return meta(self._base, f"filled:{retriever.name}") == retriever.version

    def _active(self) -> list[Retriever]:
        return [retriever for retriever in self._retrievers if retriever not in self._postponed]

    def _slow_to_fill(self) -> tuple[Retriever, ...]:
        """Name those that a question must not wait for: another embedder's vectors, say."""
        some = f"SELECT count(*) FROM (SELECT 1 FROM passages LIMIT {_AT_ONCE + 1})"
        (passages,) = self._base.execute(some).fetchone()
        if passages <= _AT_ONCE:
            return ()
        return tuple(r for r in self._retrievers if r.slow and not self._filled(r))

    def _check(self, report: SyncReport, progress: Progress) -> None:
        """Fill again the retrievers whose entries are not the manifest's."""
        retrievers = self._retrievers  # loaded before the lock is taken
        with self._turn():  # in the middle of another's batch they differ
            entries: dict[int, int] = {}
            for retriever in retrievers:
                checked = f"checked:{retriever.name}"
                try:
                    if meta(self._base, checked) == retriever.state():
                        continue
                    entries = entries or dict(self._base.execute("SELECT row, note FROM passages"))
                    whole = retriever.holds(entries)
                except IndexDamaged:
                    whole = False
                if not whole:
                    self._refill(retriever, progress)
                    report.refilled.append(retriever.name)
                write.put_meta(self._base, checked, retriever.state())

    def _refill(self, retriever: Retriever, progress: Progress) -> None:
        filled = f"filled:{retriever.name}"
        with transaction(self._base):  # said first: a kill must not leave it empty and unnoticed
            write.put_meta(self._base, filled, "")
            self._put_complete("")
        retriever.clear()
        rows = {
            path: (number, etag)
            for number, path, etag in self._base.execute(
                "SELECT id, path, etag FROM notes WHERE state IN (?, ?)", (DONE, PENDING)
            )
        }
        # undated: entries hold no dates
        with closing(self._answers([Asked(path) for path in rows])) as found:
            for start in range(0, len(rows), BATCH):
                entries: list[Entry] = []
                for path, note in islice(found, BATCH):
                    number, etag = rows[path]
                    # a file that changed meanwhile is indexed anew by the batch that follows
                    if isinstance(note, NoteRows) and note.etag == etag:
                        entries += write.entries_again(self._base, number, note)
                retriever.put(entries, ())
                progress(f"filling {retriever.name}", min(start + BATCH, len(rows)), len(rows))
        retriever.commit()
        with transaction(self._base):
            write.put_meta(self._base, filled, retriever.version)

    def _embed(self, report: SyncReport, seconds: float, progress: Progress) -> None:
        deadline = time.monotonic() + seconds
        if self._postponed:
            (passages,) = self._base.execute("SELECT count(*) FROM passages").fetchone()
            report.waiting += passages * len(self._postponed)
        for retriever in self._active():
            total = left = retriever.waiting()
            try:
                while left and ((rest := deadline - time.monotonic()) > 0 or left <= _FEW):
                    with self._turn():
                        left = retriever.catch_up(min(_EMBED_TURN, max(rest, _ONE_BATCH)))
                    progress("embedding", total - left, total)
            except EmbedderUnavailable as error:
                report.problem = error.message
            report.waiting += left

    @cached_property
    def _retrievers(self) -> Sequence[Retriever]:
        loaded, self._missing = self._load()
        return loaded

    def _conclude(self, report: SyncReport) -> None:
        """Record whether all retrievers have everything."""
        report.problem = report.problem or self._missing
        whole = not report.waiting and not report.problem
        self._put_complete(self._signature if whole else "")

    def _put_complete(self, signature: str) -> None:
        if not complete(self._base, signature):
            write.put_meta(self._base, COMPLETE, signature)


def _silent(what: str, done: int, total: int) -> None:
    """Show no progress."""
