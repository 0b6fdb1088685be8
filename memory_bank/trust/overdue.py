"""The notes that say themselves that they are to be reviewed by now."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import NamedTuple

from memory_bank.notes.okf import past_review
from memory_bank.search.manifest import document_rows
from memory_bank.search.manifest.manifest import Manifest


class OverdueNote(NamedTuple):
    """A note that is past the date in its `stale_after`."""

    path: str
    reason: str


def overdue_notes(manifest: Manifest) -> Iterator[OverdueNote]:
    """Yield the notes that are past their review date and not archived."""
    now = time.time()
    for path, extra in document_rows.data_of(manifest, "extra"):
        if "stale_after" in extra and (reason := past_review(extra, now)):
            yield OverdueNote(path, reason)
