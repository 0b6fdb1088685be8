"""The errors of this package: what happened, where, and what to do next."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Self

from memory_bank.hints import Hint


class MemoryBankError(Exception):
    """An error with a `message` and a `hint` of what to do next.

    A `Hint` is a step that front-ends word in their own terms, with the error's arguments.
    """

    def __init__(self, message: str, hint: str = "", **arguments: str) -> None:
        super().__init__(message)
        self.message = message
        self._step = hint
        self._arguments = arguments
        self.kept = ""
        """Where the caller's work was kept; precedes the hint."""

    @property
    def hint(self) -> str:
        """What to try next, in words for callers of the Python API."""
        return self.hint_in({})

    def hint_in(self, words: Mapping[Hint, str]) -> str:
        """Return the hint in a front-end's words; may be empty."""
        said = self._step
        if isinstance(said, Hint):
            said = words.get(said, said).format_map(self._arguments)
        return "; ".join(filter(None, (self.kept, said)))

    @property
    def hint_is_ours(self) -> bool:
        """Tell whether the hint can have no text from a file."""
        return isinstance(self._step, Hint) and not self._arguments

    def at(self, where: str) -> Self:
        """Return the same error with a place before its message."""
        found = copy(self)
        found.message = f"{where}: {self.message}"
        found.args = (found.message,)
        return found

    @property
    def code(self) -> str:
        """The error's code for programs: the class name in snake case."""
        name = type(self).__name__
        return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")


class BadInput(MemoryBankError):
    """The input can't be used; another input would work."""


class BadName(BadInput):
    """A note's name leaves the bank or can't be a file's name everywhere."""


class BadSetting(BadInput):
    """A setting is unknown, has a wrong value, or may not be set where it was."""


class SecretFound(BadInput):
    """A write would add a key, a token or a password to a note; the value is in no message."""


class NoBank(BadInput):
    """There is no bank at the expected place."""


class NoRepository(BadInput):
    """There is no git work tree whose code could be read at the expected place."""


class FileNotFound(MemoryBankError):
    """The work tree has no file of that name."""


class SymbolNotFound(MemoryBankError):
    """No symbol has that name, or more than one has."""


class NoteNotFound(MemoryBankError):
    """No note has that name, or more than one has."""


class NoteExists(MemoryBankError):
    """A note of that name exists already and would be overwritten."""


class Conflict(MemoryBankError):
    """The note changed since it was read: nothing was written."""


class UnreadableNote(MemoryBankError):
    """The file can't be parsed, so it is not rewritten."""


class NoteReadOnly(MemoryBankError):
    """The note is a file of the project that settings include: it may not be changed here."""


class StorageFailed(MemoryBankError):
    """The disk refused: full, read-only, or not permitted. Old bytes are intact."""


class Busy(MemoryBankError):
    """Another process held a lock for longer than we wait."""


class IndexDamaged(MemoryBankError):
    """A derived file is missing or damaged; it can be rebuilt from the notes."""


class EmbedderUnavailable(MemoryBankError):
    """Text can't be embedded now; `reason` is what an answer gives as `fallback_reason`."""

    def __init__(
        self, message: str, hint: str = "", reason: str = "embedder_unavailable", **arguments: str
    ) -> None:
        super().__init__(message, hint, **arguments)
        self.reason = reason


class SharedUnavailable(MemoryBankError):
    """The shared index can't be reached or used; `reason` is an answer's `fallback_reason`."""

    def __init__(self, message: str, hint: str = "", reason: str = "shared_unreachable") -> None:
        super().__init__(message, hint)
        self.reason = reason
