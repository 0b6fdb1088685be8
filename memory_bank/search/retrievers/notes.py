"""The retriever `notes`: a keyword index of whole documents (BM25, tantivy).

It is the code of `keyword` with another folder, so that each unit has its own word statistics.
"""

from __future__ import annotations

from pathlib import Path

from memory_bank.base.settings import Settings
from memory_bank.search.retrievers.base import Retriever
from memory_bank.search.retrievers.keyword import MODES, fingerprint

__all__ = ["MODES", "fingerprint", "load"]


def load(folder: Path, owner: str, settings: Settings) -> Retriever:  # noqa: ARG001
    """Open the index in `folder`."""
    from memory_bank.search.retrievers.keyword.keyword_index import KeywordIndex

    return KeywordIndex(folder, owner, name="notes", unit="documents")
