"""Keep every retriever filled with what the manifest has: put, commit, fill anew, embed."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing
from functools import cached_property, partial
from itertools import islice

from memory_bank.errors import EmbedderUnavailable, IndexDamaged
from memory_bank.index.reading import Asked, Place, read_all
from memory_bank.index.repairs import INDEXING, Healed
from memory_bank.index.report import Progress, SyncReport, silent
from memory_bank.manifest import write
from memory_bank.manifest.database import COMPLETE, DONE, ETAG, PENDING, complete, meta
from memory_bank.manifest.rows import NoteRows
from memory_bank.retrievers.base import Entry, Retriever
from memory_bank.sqlite import Connection, chunked, transaction

_REFILLED = 1000
"""Notes that are put at a time when a retriever is filled anew."""
_SAVED = 50
"""Notes up to which a batch is one of saves, after which others are put again if need be."""
_BESIDE = 2
"""Retrievers that commit beside the first one: another index of words, and those that are quick."""
_AT_ONCE = 2000
"""Passages up to which a question waits for a slow retriever to be filled anew."""
_FEW = 16
"""Passages that are embedded at once, however little time there is."""
_ONE_BATCH = 0.001
_EMBED_TURN = 2.0
"""Seconds of embedding under one lock."""
_NOTES = f"SELECT id, path, {ETAG} FROM notes"
_CUT_SHORT = ""
"""Recorded instead of a version while a retriever is filled anew."""

Load = Callable[[], tuple[Sequence[Retriever], str]]
"""Returns the retrievers, and why one is missing."""
Turn = Callable[[], AbstractContextManager[None]]
"""Holds the lock of the index."""


class Filling:
    """The retrievers of a bank, loaded when there is work for them."""

    def __init__(
        self,
        base: Connection,
        place: Place,
        load: Load,
        turn: Turn,
        *,
        signature: str,
        healed: Healed,
    ) -> None:
        """Fill what `load` returns, which `signature` names, so that none is loaded in vain."""
        self._base = base
        self._place = place
        self._load = load
        self._turn = turn
        self._signature = signature
        self._healed = healed
        self._missing = ""
        self._postponed: tuple[Retriever, ...] = ()

    def complete(self) -> bool:
        """Tell whether every retriever has everything that was indexed."""
        return complete(self._base, self._signature)

    def begin(self) -> None:
        """Record, in the caller's transaction, that the retrievers lack something now."""
        self._put_complete("")

    def conclude(self, report: SyncReport) -> None:
        """Record whether all retrievers have everything."""
        report.problem = report.problem or self._missing
        whole = not report.waiting and not report.problem
        self._put_complete(self._signature if whole else "")

    def postpone(self, *, slow: bool) -> None:
        """Leave out, or not, what a question must not wait for: another embedder's vectors, say."""
        self._postponed = ()
        if slow:
            some = f"SELECT count(*) FROM (SELECT 1 FROM passages LIMIT {_AT_ONCE + 1})"
            (passages,) = self._base.execute(some).fetchone()
            if passages > _AT_ONCE:
                self._postponed = tuple(
                    one for one in self._retrievers if one.slow and not self._filled(one)
                )

    def lacking(self) -> bool:
        """Tell whether a retriever was never filled, or not to its end, or in another version."""
        return bool(self._unfilled())

    def fill(self, progress: Progress) -> None:
        """Fill the retrievers that are lacking; the caller holds the lock."""
        for retriever in self._unfilled():
            if meta(self._base, _filled(retriever)) == _CUT_SHORT:
                self._healed(INDEXING)
            self._refill(retriever, progress)

    def mend(self, retriever: Retriever, progress: Progress = silent) -> None:
        """Make a damaged retriever anew from the manifest's notes; the caller holds the lock."""
        self._healed(retriever.name)
        self._refill(retriever, progress)

    def put(self, entries: Sequence[Entry], touched: Collection[int]) -> None:
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
                self._mended(retriever, partial(self._put, retriever, entries, touched))
            first, *others = self._active()
            with ThreadPoolExecutor(_BESIDE, "memory-bank-commit") as pool:
                commits = [(one, pool.submit(one.commit)) for one in others]
                self._mended(first, first.commit)
            for retriever, commit in commits:
                self._mended(retriever, commit.result)
            unless_committed.pop_all()

    def check(self, progress: Progress) -> None:
        """Make anew the retrievers whose entries are not the manifest's."""
        retrievers = self._retrievers  # loaded before the lock is taken
        with self._turn():  # in the middle of another's batch they differ
            entries: dict[int, int] = {}
            for retriever in retrievers:
                checked = f"checked:{retriever.name}"
                try:
                    retriever.check()
                    if meta(self._base, checked) == retriever.state():
                        continue
                    entries = entries or dict(self._base.execute("SELECT row, note FROM passages"))
                    whole = retriever.holds(entries)
                except IndexDamaged:
                    whole = False
                if not whole:
                    self.mend(retriever, progress)
                write.put_meta(self._base, checked, retriever.state())

    def embed(self, report: SyncReport, seconds: float, progress: Progress) -> None:
        """Embed what waits for about that many seconds, a few passages in any case."""
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

    def _put(
        self, retriever: Retriever, entries: Sequence[Entry], touched: Collection[int]
    ) -> None:
        """Put a batch; with a small one, notes that the retriever wants to be put again."""
        again = set(retriever.again()) - set(touched) if len(touched) <= _SAVED else ()
        more: list[Entry] = []
        numbers: list[int] = []
        if again:
            rows = chunked(self._base, f"{_NOTES} WHERE id IN ({{}}) AND state = {DONE}", [*again])
            for number, found in self._read_again(list(rows)):
                more += found
                numbers.append(number)
        retriever.put([*entries, *more], [*touched, *numbers])

    def _read_again(
        self, rows: Sequence[tuple[int, str, str]]
    ) -> Generator[tuple[int, list[Entry]]]:
        """Yield the entries of notes whose rows are written, as far as their files are the same.

        A file that changed meanwhile is indexed by a later batch.
        """
        known = {path: (number, etag) for number, path, etag in rows}
        # undated: entries hold no dates
        with closing(read_all(self._place, [Asked(path) for path in known])) as found:
            for path, note in found:
                number, etag = known[path]
                if isinstance(note, NoteRows) and note.etag == etag:
                    yield number, write.entries_again(self._base, number, note)

    def _mended(self, retriever: Retriever, work: Callable[[], None]) -> None:
        try:
            work()
        except IndexDamaged:
            self.mend(retriever)

    def _refill(self, retriever: Retriever, progress: Progress) -> None:
        with transaction(self._base):  # said first: a kill must not leave it empty and unnoticed
            write.put_meta(self._base, _filled(retriever), _CUT_SHORT)
            self._put_complete("")
        retriever.clear()
        rows = self._base.execute(f"{_NOTES} WHERE state IN ({DONE}, {PENDING})").fetchall()
        with closing(self._read_again(rows)) as found:
            for start in range(0, len(rows), _REFILLED):
                entries = [entry for _, of_note in islice(found, _REFILLED) for entry in of_note]
                retriever.put(entries, ())
                done = min(start + _REFILLED, len(rows))
                progress(f"filling {retriever.name}", done, len(rows))
        retriever.commit()
        with transaction(self._base):
            write.put_meta(self._base, _filled(retriever), retriever.version)

    def _unfilled(self) -> list[Retriever]:
        return [retriever for retriever in self._active() if not self._filled(retriever)]

    def _filled(self, retriever: Retriever) -> bool:
        return meta(self._base, _filled(retriever)) == retriever.version

    def _active(self) -> list[Retriever]:
        return [retriever for retriever in self._retrievers if retriever not in self._postponed]

    @cached_property
    def _retrievers(self) -> Sequence[Retriever]:
        loaded, self._missing = self._load()
        return loaded

    def _put_complete(self, signature: str) -> None:
        if meta(self._base, COMPLETE) != signature:
            write.put_meta(self._base, COMPLETE, signature)


def _filled(retriever: Retriever) -> str:
    """Return the key under which the version is kept that a retriever was filled in."""
    return f"filled:{retriever.name}"
