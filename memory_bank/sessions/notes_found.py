"""How the store of sessions finds notes, which the index knows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Notes(Protocol):
    """The notes of sessions of a bank."""

    def of_session(self, session_id: str) -> str:
        """Return the path of a session's note; empty if it has none."""

    def with_blocks(self, ids: Sequence[str]) -> dict[str, str]:
        """Map those of some block ids that a note has to its path."""

    def all(self) -> list[str]:
        """Return the paths of the notes of type session."""
