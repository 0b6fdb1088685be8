"""The documents of a source that changed, by signatures, and the report of a sync."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from math import inf
from types import MappingProxyType

from memory_bank.base import NamedTuple, in_json
from memory_bank.base.documents import Scan, Signature
from memory_bank.search.manifest import writer
from memory_bank.search.manifest.manifest import Manifest


class DocumentChanges(NamedTuple):
    """Documents that may have changed, and documents that no longer exist."""

    changed: dict[str, Signature]
    gone: Mapping[str, int] = MappingProxyType({})
    """Their numbers by key."""
    refused: Mapping[str, str] | None = None
    """Files that can't be documents, with reasons; None if they are as recorded."""

    def __bool__(self) -> bool:
        """Tell whether there is anything to do."""
        return bool(self.changed or self.gone or self.refused is not None)


NONE = DocumentChanges({})


def compare(manifest: Manifest, scan: Scan, keys: Collection[str] | None = None) -> DocumentChanges:
    """Compare a scan with the manifest, at all keys or some; hashes are compared on reading."""
    changed = (
        dict(scan.signatures)
        if keys is None
        else {key: scan.signatures[key] for key in keys if key in scan.signatures}
    )
    gone: dict[str, int] = {}
    for key, number, signature in writer.read_signatures(manifest, keys):
        if key not in scan.signatures:
            gone[key] = number
        elif signature and signature == changed[key]:
            del changed[key]
    refused = None if writer.read_refused(manifest) == scan.refused else scan.refused
    return DocumentChanges(changed, gone, refused)


Progress = Callable[[str, int, int], None]
"""Called with the kind of work, the amount done, and the total."""


@in_json(
    "indexed", "removed", "unindexed", "repaired", "embedded", "waiting", "put_off", "problem",
    "leftover", "seconds", "code",
)  # fmt: skip
class SyncReport:
    """What one sync did; numbers of documents."""

    indexed: int = 0
    removed: int = 0
    unindexed: int = 0
    repaired: list[str]
    """What was unfinished, damaged or missing, as in `repairs`."""
    embedded: int = 0
    """Passages for which a vector was computed."""
    waiting: int = 0
    """Passages that have no vector yet."""
    put_off: int = 0
    """Passages that the next question by meaning embeds."""
    problem: str = ""
    """Why passages can't be embedded now, if so."""
    leftover: list[str]
    """Temporary files that were found among the documents."""
    seconds: float = 0.0
    code: SyncReport | None = None
    """Of the project's code; None if it was not indexed."""

    def __init__(self, problem: str = "") -> None:
        """Start with nothing done."""
        self.problem = problem
        self.repaired = []
        self.leftover = []

    def add(self, sync_report: SyncReport) -> None:
        """Add what another sync did; the first problem stays."""
        self.indexed += sync_report.indexed
        self.removed += sync_report.removed
        self.unindexed += sync_report.unindexed
        self.embedded += sync_report.embedded
        self.waiting += sync_report.waiting
        self.repaired += sync_report.repaired
        self.problem = self.problem or sync_report.problem


_ELAPSED = 1.5
"""Seconds that may pass for each of processor time."""


class IndexLimits:
    """How much is indexed before an answer; the rest is left to a process that nobody waits for."""

    def __init__(
        self, seconds: float = inf, document_bytes: int | None = None, refilled: float = inf
    ) -> None:
        """Read for some seconds of processor time; writing takes about half as long.

        Larger documents are postponed, and retrievers that lost their entries aren't refilled from
        more than `refilled` passages. Where other programs run, half as many seconds more may pass.
        """
        self.seconds = seconds
        self.document_bytes = document_bytes
        self.refilled = refilled
        self._began: tuple[float, float] | None = None

    def begin(self) -> None:
        """Measure the time from now on, unless it is measured already."""
        self._began = self._began or (time.monotonic(), time.process_time())

    def renew(self) -> None:
        """Measure the time from the next work on."""
        self._began = None

    def reached(self) -> bool:
        """Tell whether the time is over."""
        elapsed, busy = self._began or (0.0, 0.0)
        return bool(self and self._began) and (
            time.process_time() - busy > self.seconds
            or time.monotonic() - elapsed > self.seconds * _ELAPSED
        )

    def __bool__(self) -> bool:
        """Tell whether there are limits."""
        return self.seconds < inf


UNLIMITED = IndexLimits()


def show_nothing(text: str, number: int, total: int) -> None:
    """Show no progress."""
