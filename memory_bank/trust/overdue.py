"""The notes whose front matter says that they should have been reviewed by now."""

from __future__ import annotations

import time
from collections.abc import Iterator

from memory_bank.base.documents import PathProblem
from memory_bank.notes.okf import past_review
from memory_bank.search.manifest import document_rows
from memory_bank.search.manifest.manifest import Manifest


def yield_overdue_notes(manifest: Manifest) -> Iterator[PathProblem]:
    """Yield the notes that are past their review date and not archived."""
    now = time.time()
    for path, extra in document_rows.yield_data(manifest, "extra"):
        if "stale_after" in extra and (reason := past_review(extra, now)):
            yield PathProblem(path, reason)
