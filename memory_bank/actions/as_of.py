"""The revision as of which an answer is."""

from __future__ import annotations

from typing import NamedTuple


class AsOf(NamedTuple):
    """A revision of the repository."""

    commit: str
    """Its full id; of what is staged, that of HEAD."""
    asked: str
    """The name that was asked for."""
    committed_at: str
