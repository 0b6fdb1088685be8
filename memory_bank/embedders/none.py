"""No embeddings: search by words and links only."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memory_bank.config import Settings

SUMMARY = "no vectors: search by words and links only"


def load(settings: Settings) -> None:
    """Return None: the user wants no embeddings."""
