"""The retrievers `keyword` and `notes`: keyword indices of passages and of whole documents.

Both are BM25 by tantivy, in two folders, so that each unit has its own word statistics.
"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

from memory_bank.base.settings import Settings
from memory_bank.search.retrievers.base import Retriever

MODES = ("lexical", "hybrid")


def fingerprint(settings: Settings) -> str:  # noqa: ARG001  (no setting matters)
    """Return what the index depends on beyond its own version."""
    return "4"


def load(folder: Path, owner: str, settings: Settings) -> Retriever:  # noqa: ARG001
    """Open the index of passages in `folder`."""
    from memory_bank.search.retrievers.keyword.keyword_index import KeywordIndex

    return KeywordIndex(folder, owner, name="keyword", unit="passages")


def _load_notes(folder: Path, owner: str, settings: Settings) -> Retriever:  # noqa: ARG001
    from memory_bank.search.retrievers.keyword.keyword_index import KeywordIndex

    return KeywordIndex(folder, owner, name="notes", unit="documents")


notes = SimpleNamespace(MODES=MODES, fingerprint=fingerprint, load=_load_notes)
