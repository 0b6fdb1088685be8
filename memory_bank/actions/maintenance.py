"""Keep a bank's indices equal to its files: now, or for as long as one watches."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from memory_bank.bank import Bank
from memory_bank.errors import Busy
from memory_bank.index.index import Index
from memory_bank.index.report import Progress, SyncReport
from memory_bank.layout import Layout
from memory_bank.manifest import documents
from memory_bank.repairs import described

__all__ = [
    "Changed",
    "Comparison",
    "SyncReport",
    "compare",
    "described",
    "embed_waiting",
    "follow",
    "sync",
    "watch",
]  # fmt: skip

_BETWEEN = 0.01
"""Seconds in which others may take the bank, between two turns of embedding."""


def sync(bank: Bank, *, rebuild: bool = False, progress: Progress | None = None) -> SyncReport:
    """Index and embed whatever differs from the files; with `rebuild`, make every index anew."""
    return bank.rebuild(progress) if rebuild else bank.sync(progress)


@dataclass(frozen=True, slots=True)
class Comparison:
    """How the index differs from one made anew."""

    notes: int
    differences: tuple[str, ...]


def compare(bank: Bank, progress: Progress | None = None) -> Comparison:
    """Catch up, make a second index of the same files, and name every difference.

    Dates that come from git are asked for first: a commit is no difference between index and
    files. Nothing else is checked or repaired: what the index lost, or has too much, is to be seen.
    """
    from memory_bank.index.compare import compared

    bank.catch_up(progress)
    bank.read(lambda view: view.index.indexer.refresh())
    with bank.lock, tempfile.TemporaryDirectory(prefix="memory-bank-") as folder:
        place = Layout(root=bank.layout.root, index=Path(folder))
        fresh = Index(place, bank.source, bank.settings)
        try:
            # vectors need not be made: that the same passages have one is what is compared
            fresh.indexer.sync(seconds=0, progress=progress)
            differing = tuple(bank.read(lambda view: list(compared(view.index, fresh))))
            notes = len(documents.all_keys(fresh.manifest))
        finally:
            fresh.close()
    return Comparison(notes, differing)


def watch(bank: Bank, say: Callable[[str], None], stop: threading.Event) -> None:
    """Index changes as they happen, one line to `say` for each batch, until `stop` is set."""
    from memory_bank.index.watch import Watcher

    with Watcher(bank.layout.root) as watcher:
        if watcher.polling:
            say(watcher.polling)
        say(_told(bank.sync()))
        while watcher.wait(stop):
            report = bank.sync()
            if report.indexed or report.removed or report.unindexed or report.repaired:
                say(_told(report))


@dataclass(frozen=True, slots=True)
class Changed:
    """Which notes came, went and changed in one batch, by path."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


def follow(bank: Bank, told: Callable[[Changed], None], stop: threading.Event) -> None:
    """Index changes as they happen and tell of the notes in each batch, until `stop` is set.

    An empty batch is told first, once all that was there is indexed. Vectors are left to
    `embed_waiting`.
    """
    from memory_bank.index.watch import Watcher

    with Watcher(bank.layout.root) as watcher:
        bank.catch_up()
        before = bank.read(lambda view: documents.hashes(view.manifest))
        told(Changed())
        while watcher.wait(stop):
            bank.catch_up()
            now = bank.read(lambda view: documents.hashes(view.manifest))
            if now != before:
                told(_difference(before, now))
            before = now


def embed_waiting(bank: Bank, seconds: float, stop: threading.Event) -> bool:
    """Embed what waits, in turns of about that many seconds between which others get theirs.

    Returns whether nothing waits any more; False when it was stopped, or can't be done now.
    """
    while not stop.wait(_BETWEEN):
        try:
            report = bank.embed(seconds)
        except Busy:
            return False
        if report.problem or not report.waiting:
            return not report.problem
    return False


def _difference(before: Mapping[str, str], now: Mapping[str, str]) -> Changed:
    return Changed(
        added=tuple(path for path in now if path not in before),
        removed=tuple(path for path in before if path not in now),
        changed=tuple(path for path, etag in now.items() if before.get(path, etag) != etag),
    )


def _told(report: SyncReport) -> str:
    parts = {
        "indexed": report.indexed,
        "removed": report.removed,
        "not indexable": report.unindexed,
        "waiting for vectors": report.waiting,
    }
    said = ", ".join(f"{count} {what}" for what, count in parts.items() if count)
    repaired = f"; repaired: {described(report.repaired)}" if report.repaired else ""
    return f"{said or 'up to date'} ({report.seconds:.2f} s){repaired}"
