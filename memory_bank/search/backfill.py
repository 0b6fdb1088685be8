"""Fill retrievers from the manifest and the source: put, commit, refill, embed."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from functools import cached_property, partial
from itertools import islice

from memory_bank.base.documents import Document, Source
from memory_bank.base.errors import Busy, EmbedderUnavailable, IndexDamaged
from memory_bank.base.repairs import INDEXING, Repaired
from memory_bank.search.document_changes import IndexLimits, Progress, SyncReport, show_nothing
from memory_bank.search.manifest import document_rows, writer
from memory_bank.search.manifest.manifest import COMPLETE, Manifest, filled_key
from memory_bank.search.retrievers.base import FEW_TEXTS, IndexedPassage, Retriever

_REFILL_BATCH = 1000
"""Number of documents that are put at a time when a retriever is refilled."""

_SMALL_BATCH = 50
"""Maximum number of documents of a batch to which documents of small segments are added."""

_COMMIT_THREADS = 2
"""Threads that commit other retrievers while the first one commits."""

_MAX_PASSAGES_TO_AWAIT = 2000
"""Maximum number of passages for which a query waits until a slow retriever is refilled."""

_MIN_SECONDS = 0.001

_MAX_SECONDS = 2.0
"""Maximum time in seconds of embedding before the lock is released."""

_INTERRUPTED = ""
"""Recorded instead of the version while a retriever is refilled."""

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
        limits: IndexLimits,
    ) -> None:
        """Fill the retrievers of `load`; `fingerprint` identifies them without loading them."""
        self._limits = limits
        self._manifest = manifest
        self._source = source
        self._load = load
        self._turn = turn
        self._fingerprint = fingerprint
        self._report_repair = repaired
        self._missing = ""
        self._postponed: tuple[Retriever, ...] = ()

    def complete(self) -> bool:
        """Tell whether every retriever has all indexed passages."""
        return self._manifest.meta(COMPLETE) == self._fingerprint

    def mark_incomplete(self) -> None:
        """Record, in the caller's transaction, that the retrievers are incomplete."""
        self._put_complete("")

    def record_completeness(self, report: SyncReport) -> None:
        """Record whether all retrievers are complete."""
        report.problem = report.problem or self._missing
        whole = not (report.waiting or report.put_off or report.problem)
        self._put_complete(self._fingerprint if whole else "")

    def postpone(self, *, slow: bool) -> None:
        """Choose the retrievers to skip: with `slow`, those whose refill would delay a query."""
        self._postponed = ()
        if self._limits and self._is_too_long():
            self._postponed = tuple(self._unfilled())
        elif (
            slow
            and document_rows.count_passages(self._manifest, _MAX_PASSAGES_TO_AWAIT + 1)
            > _MAX_PASSAGES_TO_AWAIT
        ):
            self._postponed = tuple(
                retriever
                for retriever in self._retrievers
                if retriever.slow and not self._filled(retriever)
            )

    def check_refillable(self, retriever: Retriever) -> None:
        """Raise Busy if a damaged retriever is not refilled within the limits.

        A process without limits does that.
        """
        if self._limits and self._is_too_long():
            raise Busy(f"{retriever.name} is damaged", "it is made again in the background")

    def _is_too_long(self) -> bool:
        """Tell whether to refill a retriever takes longer than the limits allow."""
        return document_rows.count_passages(self._manifest) > self._limits.refilled

    def needs_filling(self) -> bool:
        """Tell whether a retriever was not filled, not completely, or in another version."""
        return bool(self._unfilled())

    def fill(self, progress: Progress) -> None:
        """Fill the retrievers that need it; the caller holds the lock."""
        for retriever in self._unfilled():
            if self._manifest.meta(filled_key(retriever.name)) == _INTERRUPTED:
                self._report_repair(INDEXING)
            self._refill(retriever, progress)

    def repair(self, retriever: Retriever, progress: Progress = show_nothing) -> None:
        """Refill a damaged retriever from the source; the caller holds the lock."""
        self._report_repair(retriever.name)
        self._refill(retriever, progress)

    def put(self, entries: Sequence[IndexedPassage], touched: Collection[int]) -> None:
        """Put a batch into every retriever; refill a damaged one.

        Every retriever gets the batch before any commits, and they commit in parallel, since a
        commit of tantivy mostly waits for its thread or the disk.
        """
        if not touched:
            return
        self._forget_others()
        from concurrent.futures import ThreadPoolExecutor  # start-up: a query fills nothing

        with ExitStack() as on_failure:
            for retriever in self._active():
                on_failure.callback(retriever.close)
                self._repair_if_damaged(retriever, partial(self._put, retriever, entries, touched))
            first, *retrievers = self._active()
            with ThreadPoolExecutor(_COMMIT_THREADS, "memory-bank-commit") as pool:
                commits = [(retriever, pool.submit(retriever.commit)) for retriever in retrievers]
                self._repair_if_damaged(first, first.commit)
            for retriever, commit in commits:
                self._repair_if_damaged(retriever, commit.result)
            on_failure.pop_all()

    def _forget_others(self) -> None:
        """Record that retrievers which are turned off or can't be loaded are filled no longer."""
        filled = [filled_key(retriever.name) for retriever in self._active()]
        self._manifest.execute(
            f"DELETE FROM meta WHERE key GLOB '{filled_key('*')}'"
            f" AND key NOT IN ({','.join('?' * len(filled))})",
            filled,
        )

    def check(self, progress: Progress) -> None:
        """Refill the retrievers whose entries differ from the manifest's."""
        retrievers = self._retrievers  # load before taking the lock
        with self._turn():  # they differ while another process indexes a batch
            entries: dict[int, int] = {}
            for retriever in retrievers:
                checked = f"checked:{retriever.name}"
                try:
                    retriever.check()
                    if self._manifest.meta(checked) == retriever.state():
                        continue
                    entries = entries or document_rows.passage_rows(self._manifest)
                    whole = retriever.holds(entries)
                except IndexDamaged:
                    whole = False
                if not whole:
                    self.repair(retriever, progress)
                self._manifest.put_meta(checked, retriever.state())

    def embed(
        self, report: SyncReport, seconds: float, progress: Progress, *, few: bool = True
    ) -> None:
        """Embed waiting passages for about that many seconds, but a few in any case.

        Without `few`, the next question by meaning embeds these.
        """
        deadline = time.monotonic() + (0 if self._limits else seconds)
        least = 0 if self._limits else FEW_TEXTS
        if self._postponed:
            passages = document_rows.count_passages(self._manifest)
            report.waiting += passages * len(self._postponed)
        for retriever in self._active():
            total = waiting = retriever.waiting()
            if waiting <= FEW_TEXTS and not few:
                report.put_off += waiting
                continue
            try:
                while waiting and ((rest := deadline - time.monotonic()) > 0 or waiting <= least):
                    with self._turn():
                        waiting = retriever.catch_up(min(_MAX_SECONDS, max(rest, _MIN_SECONDS)))
                    progress("embedding", total - waiting, total)
            except EmbedderUnavailable as error:
                report.problem = error.message
            report.embedded += max(total - waiting, 0)  # another process may have added some
            report.waiting += waiting

    def _put(
        self, retriever: Retriever, entries: Sequence[IndexedPassage], touched: Collection[int]
    ) -> None:
        """Put a batch; with a small one, also documents that the retriever wants to compact."""
        compacted = (
            set(retriever.to_compact()) - set(touched) if len(touched) <= _SMALL_BATCH else ()
        )
        extra: list[IndexedPassage] = []
        numbers: list[int] = []
        if compacted:
            for number, passages in self._entries_of(
                writer.list_indexed(self._manifest, [*compacted])
            ):
                extra += passages
                numbers.append(number)
        retriever.put([*entries, *extra], [*touched, *numbers])

    def _entries_of(
        self, rows: Sequence[tuple[int, str, str]]
    ) -> Iterator[tuple[int, list[IndexedPassage]]]:
        """Yield the entries of indexed documents, except those that have changed meanwhile.

        A later batch indexes these.
        """
        for number, key, known_hash in rows:
            content = self._source.read(key)
            if isinstance(content, Document) and content.hash == known_hash:
                yield number, writer.read_entries(self._manifest, number, content)

    def _repair_if_damaged(self, retriever: Retriever, work: Callable[[], None]) -> None:
        try:
            work()
        except IndexDamaged:
            self.repair(retriever)

    def _refill(self, retriever: Retriever, progress: Progress) -> None:
        # recorded first, so that after a kill the empty retriever is noticed
        with self._manifest.transaction():
            self._manifest.put_meta(filled_key(retriever.name), _INTERRUPTED)
            self._put_complete("")
        retriever.clear()
        rows = writer.list_indexed(self._manifest)
        found_entries = self._entries_of(rows)
        for start in range(0, len(rows), _REFILL_BATCH):
            entries = [
                entry for _, passages in islice(found_entries, _REFILL_BATCH) for entry in passages
            ]
            retriever.put(entries, ())
            done_start = min(start + _REFILL_BATCH, len(rows))
            progress(f"filling {retriever.name}", done_start, len(rows))
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
