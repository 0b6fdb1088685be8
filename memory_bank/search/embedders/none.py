"""No embeddings: search by words and links only."""

from __future__ import annotations

from memory_bank.base.settings import Settings

SUMMARY = "no vectors: search by words and links only"


def fingerprint(settings: Settings) -> str:  # noqa: ARG001  (the contract's signature)
    """Return one word: there are no vectors."""
    return "none"


def load(settings: Settings) -> None:
    """Return None: the user wants no embeddings."""
