"""Keep every retriever filled with what the manifest has: put, commit, refill, embed."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from functools import cached_property, partial
from itertools import islice

from memory_bank.errors import EmbedderUnavailable, IndexDamaged
from memory_bank.index.report import Progress, SyncReport, silent
from memory_bank.manifest import document_writer, documents
from memory_bank.manifest.manifest import COMPLETE, Manifest, filled_key
from memory_bank.repairs import INDEXING, Repaired
from memory_bank.retrievers.base import Entry, Retriever
from memory_bank.source import Document, Source

_REFILLED = 1000
"""Documents that are put at a time when a retriever is refilled."""
_SAVED = 50
"""Documents up to which a batch is one of saves, after which others are put again if need be."""
_BESIDE = 2
"""Retrievers that commit beside the first one: another index of words, and those that are quick."""
_AT_ONCE = 2000
"""Passages up to which a question waits for a slow retriever to be refilled."""
_FEW = 16
"""Passages that are embedded at once, however little time there is."""
_ONE_BATCH = 0.001
_EMBED_TURN = 2.0
"""Seconds of embedding under one lock."""
_CUT_SHORT = ""
"""Recorded instead of a version while a retriever is refilled."""

Load = Callable[[], tuple[Sequence[Retriever], str]]
"""Returns the retrievers, and why one is missing."""
Turn = Callable[[], AbstractContextManager[None]]
"""Holds the lock of the index."""


class Backfill:
    """The retrievers of an index, loaded when there is work for them."""

    def __init__(
        self,
        manifest: Manifest,
        source: Source,
        load: Load,
        turn: Turn,
        *,
        fingerprint: str,
        repaired: Repaired,
    ) -> None:
        """Fill what `load` returns, which `fingerprint` names, so that none is loaded in vain."""
        self._manifest = manifest
        self._source = source
        self._load = load
        self._turn = turn
        self._fingerprint = fingerprint
        self._repaired_what = repaired
        self._missing = ""
        self._postponed: tuple[Retriever, ...] = ()

    def complete(self) -> bool:
        """Tell whether every retriever has everything that was indexed."""
        return self._manifest.meta(COMPLETE) == self._fingerprint

    def begin(self) -> None:
        """Record, in the caller's transaction, that the retrievers lack something now."""
        self._put_complete("")

    def conclude(self, report: SyncReport) -> None:
        """Record whether all retrievers have everything."""
        report.problem = report.problem or self._missing
        whole = not report.waiting and not report.problem
        self._put_complete(self._fingerprint if whole else "")

    def postpone(self, *, slow: bool) -> None:
        """Leave out, or not, what a question must not wait for: another embedder's vectors, say."""
        self._postponed = ()
        if slow and documents.count_passages(self._manifest, _AT_ONCE + 1) > _AT_ONCE:
            self._postponed = tuple(
                one for one in self._retrievers if one.slow and not self._filled(one)
            )

    def lacking(self) -> bool:
        """Tell whether a retriever was never filled, or not to its end, or in another version."""
        return bool(self._unfilled())

    def fill(self, progress: Progress) -> None:
        """Fill the retrievers that are lacking; the caller holds the lock."""
        for retriever in self._unfilled():
            if self._manifest.meta(filled_key(retriever.name)) == _CUT_SHORT:
                self._repaired_what(INDEXING)
            self._refill(retriever, progress)

    def repair(self, retriever: Retriever, progress: Progress = silent) -> None:
        """Refill a damaged retriever from the source; the caller holds the lock."""
        self._repaired_what(retriever.name)
        self._refill(retriever, progress)

    def put(self, entries: Sequence[Entry], touched: Collection[int]) -> None:
        """Put a batch into every retriever; one that turns out broken is refilled.

        All are given the batch before any commits, and commit side by side: tantivy works, or
        waits for the disk, meanwhile.
        """
        if not touched:
            return
        from concurrent.futures import ThreadPoolExecutor  # start-up: a question fills nothing

        with ExitStack() as unless_committed:
            for retriever in self._active():
                unless_committed.callback(retriever.close)
                self._repairing(retriever, partial(self._put, retriever, entries, touched))
            first, *others = self._active()
            with ThreadPoolExecutor(_BESIDE, "memory-bank-commit") as pool:
                commits = [(one, pool.submit(one.commit)) for one in others]
                self._repairing(first, first.commit)
            for retriever, commit in commits:
                self._repairing(retriever, commit.result)
            unless_committed.pop_all()

    def check(self, progress: Progress) -> None:
        """Refill the retrievers whose entries are not the manifest's."""
        retrievers = self._retrievers  # loaded before the lock is taken
        with self._turn():  # in the middle of another's batch they differ
            entries: dict[int, int] = {}
            for retriever in retrievers:
                checked = f"checked:{retriever.name}"
                try:
                    retriever.check()
                    if self._manifest.meta(checked) == retriever.state():
                        continue
                    entries = entries or documents.passage_rows(self._manifest)
                    whole = retriever.holds(entries)
                except IndexDamaged:
                    whole = False
                if not whole:
                    self.repair(retriever, progress)
                self._manifest.put_meta(checked, retriever.state())

    def embed(self, report: SyncReport, seconds: float, progress: Progress) -> None:
        """Embed what waits for about that many seconds, a few passages in any case."""
        deadline = time.monotonic() + seconds
        if self._postponed:
            passages = documents.count_passages(self._manifest)
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
        """Put a batch; with a small one, documents that the retriever wants to be put again."""
        again = set(retriever.to_compact()) - set(touched) if len(touched) <= _SAVED else ()
        more: list[Entry] = []
        numbers: list[int] = []
        if again:
            for number, found in self._read_again(
                document_writer.indexed(self._manifest, [*again])
            ):
                more += found
                numbers.append(number)
        retriever.put([*entries, *more], [*touched, *numbers])

    def _read_again(
        self, rows: Sequence[tuple[int, str, str]]
    ) -> Iterator[tuple[int, list[Entry]]]:
        """Yield the entries of documents whose rows are written, as far as they are the same.

        One that changed meanwhile is indexed by a later batch.
        """
        for number, key, known in rows:
            one = self._source.read(key)
            if isinstance(one, Document) and one.hash == known:
                yield number, document_writer.entries_again(self._manifest, number, one)

    def _repairing(self, retriever: Retriever, work: Callable[[], None]) -> None:
        try:
            work()
        except IndexDamaged:
            self.repair(retriever)

    def _refill(self, retriever: Retriever, progress: Progress) -> None:
        with (
            self._manifest.transaction()
        ):  # said first: a kill must not leave it empty and unnoticed
            self._manifest.put_meta(filled_key(retriever.name), _CUT_SHORT)
            self._put_complete("")
        retriever.clear()
        rows = document_writer.indexed(self._manifest)
        found = self._read_again(rows)
        for start in range(0, len(rows), _REFILLED):
            entries = [entry for _, some in islice(found, _REFILLED) for entry in some]
            retriever.put(entries, ())
            done = min(start + _REFILLED, len(rows))
            progress(f"filling {retriever.name}", done, len(rows))
        retriever.commit()
        with self._manifest.transaction():
            self._manifest.put_meta(filled_key(retriever.name), retriever.version)

    def _unfilled(self) -> list[Retriever]:
        return [retriever for retriever in self._active() if not self._filled(retriever)]

    def _filled(self, retriever: Retriever) -> bool:
        return self._manifest.meta(filled_key(retriever.name)) == retriever.version

    def _active(self) -> list[Retriever]:
        return [retriever for retriever in self._retrievers if retriever not in self._postponed]

    @cached_property
    def _retrievers(self) -> Sequence[Retriever]:
        loaded, self._missing = self._load()
        return loaded

    def _put_complete(self, fingerprint: str) -> None:
        if self._manifest.meta(COMPLETE) != fingerprint:
            self._manifest.put_meta(COMPLETE, fingerprint)
