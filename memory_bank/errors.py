"""The errors a caller can meet: what happened, where, and what to do next."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Self

from memory_bank.hints import Hint


class MemoryBankError(Exception):
    """Say what went wrong in `message` and what to try next in `hint`.

    A `Hint` is a step that front-ends word in their own terms, with the error's arguments.
    """

    def __init__(self, message: str, hint: str = "", **arguments: str) -> None:
        super().__init__(message)
        self.message = message
        self._step = hint
        self._arguments = arguments
        self.kept = ""
        """What was kept of the caller's work, and where: said before the hint."""

    @property
    def hint(self) -> str:
        """What to try next, in words for callers of the Python API."""
        return self.hint_in({})

    def hint_in(self, words: Mapping[Hint, str]) -> str:
        """Return what to try next in a front-end's words; empty when nothing is known."""
        said = self._step
        if isinstance(said, Hint):
            said = words.get(said, said).format_map(self._arguments)
        return "; ".join(filter(None, (self.kept, said)))

    @property
    def hint_is_ours(self) -> bool:
        """Tell whether no text of a file can be in the hint."""
        return isinstance(self._step, Hint) and not self._arguments

    def at(self, where: str) -> Self:
        """Return the same error, its message preceded by the place where it was met."""
        found = copy(self)
        found.message = f"{where}: {self.message}"
        found.args = (found.message,)
        return found

    @property
    def code(self) -> str:
        """Name the kind of error for programs: the class name in snake case."""
        name = type(self).__name__
        return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")


class BadInput(MemoryBankError):
    """The caller's words can't be used as they are: another input would work."""


class BadName(BadInput):
    """A note's name leaves the bank or can't be a file's name everywhere."""


class BadSetting(BadInput):
    """A setting is unknown, has a wrong value, or may not be set where it was."""


class SecretFound(BadInput):
    """A write would add a key, a token or a password to a note; the value is in no message."""


class NoBank(BadInput):
    """There is no bank where one was looked for."""


class NoteNotFound(MemoryBankError):
    """No note answers to that name, or more than one does."""


class NoteExists(MemoryBankError):
    """A note of that name is there already and would be overwritten."""


class Conflict(MemoryBankError):
    """The note changed since it was read: nothing was written."""


class UnreadableNote(MemoryBankError):
    """The file can't be parsed, so it is not rewritten."""


class StorageFailed(MemoryBankError):
    """The disk refused: full, read-only, or not permitted. Old bytes are intact."""


class Busy(MemoryBankError):
    """Another process held a lock for longer than we wait."""


class IndexDamaged(MemoryBankError):
    """A derived file is missing or broken; it can be made again from the notes."""


class EmbedderUnavailable(MemoryBankError):
    """Text can't be embedded now; `reason` is what an answer gives as `fallback_reason`."""

    def __init__(
        self, message: str, hint: str = "", reason: str = "embedder_unavailable", **arguments: str
    ) -> None:
        super().__init__(message, hint, **arguments)
        self.reason = reason
