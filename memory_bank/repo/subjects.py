"""The subjects of the commits of each file, by which a file is found, too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from blake3 import blake3

from memory_bank.repo.history import History

MOST = 100
"""Number of commits of a file, the newest, whose subjects are used."""


class Subjects(Protocol):
    """What the commits of files say."""

    @property
    def generation(self) -> object:
        """What differs when the subjects may have changed."""

    def of(self, path: str) -> Sequence[str]:
        """Return the subjects of a file's commits, the newest first."""

    def hash(self, path: str) -> str:
        """Return digits that change with the subjects of a file; empty if it has none."""


class NoSubjects:
    """No commits say anything."""

    generation: object = None

    def of(self, path: str) -> Sequence[str]:  # noqa: ARG002
        """Return none."""
        return ()

    def hash(self, path: str) -> str:  # noqa: ARG002
        """Return none."""
        return ""


class CommitSubjects:
    """The subjects of the commits of a history."""

    def __init__(self, history: Callable[[], History]) -> None:
        """Read a history when its subjects are asked for."""
        self._read = history
        self._history = History()
        self._hashes: dict[str, str] = {}

    @property
    def generation(self) -> object:
        """The history, read again if HEAD changed."""
        found = self._read()
        if found is not self._history:
            self._history, self._hashes = found, {}
        return found

    def of(self, path: str) -> Sequence[str]:
        """Return the subjects of a file's commits, the newest first, each once."""
        return subjects_of(self._history, path)

    def hash(self, path: str) -> str:
        """Return digits that change with the subjects of a file; empty if it has none."""
        if path not in self._hashes:
            text = "\n".join(self.of(path))
            self._hashes[path] = blake3(text.encode()).hexdigest()[:16] if text else ""
        return self._hashes[path]


def subjects_of(history: History, path: str) -> tuple[str, ...]:
    """Return the subjects of a file's newest commits, the newest first, each once."""
    return tuple(dict.fromkeys(one.subject for one in history.of(path)[:MOST] if one.subject))
