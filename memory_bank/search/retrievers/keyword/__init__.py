"""The retriever `keyword`: a keyword index of passages (BM25, tantivy)."""

from __future__ import annotations

from pathlib import Path

from memory_bank.base.settings import Settings
from memory_bank.search.retrievers.base import Retriever

MODES = ("lexical", "hybrid")


def fingerprint(settings: Settings) -> str:  # noqa: ARG001  (no setting matters)
    """Return what the index depends on beyond its own version."""
    return "7"


def load(folder: Path, owner: str, settings: Settings) -> Retriever:  # noqa: ARG001
    """Open the index in `folder`."""
    from memory_bank.search.retrievers.keyword.keyword_index import KeywordIndex

    return KeywordIndex(folder, owner, name="keyword", unit="passages")
