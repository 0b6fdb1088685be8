"""The errors of this package: what happened, where, and what to do next."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from typing import Self

from memory_bank.hints import Hint


class MemoryBankError(Exception):
    """An error with a `message` and a `hint` of what to do next.

    A `Hint` is a step that front-ends word in their own terms. What a hint says that is not ours,
    such as the name of a file, is an argument: it is filled in for `{name}`.
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

    def hint_in(self, words: Mapping[Hint, str], quote: Callable[[str], str] = str) -> str:
        """Return the hint in a front-end's words, what is not ours quoted; may be empty."""
        said = self._step
        if isinstance(said, Hint):
            said = words.get(said, said)
        if isinstance(self._step, Hint) or self._arguments:
            said = said.format_map({name: quote(text) for name, text in self._arguments.items()})
        return "; ".join(filter(None, (self.kept and quote(self.kept), said)))

    @classmethod
    def after(cls, error: MemoryBankError, message: str) -> Self:
        """Return an error of this class with the hint of another one."""
        found = cls(message)
        found._step, found._arguments, found.kept = error._step, error._arguments, error.kept
        return found

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

    def __init__(
        self, message: str, hint: str = "", reason: str = "shared_unreachable", **arguments: str
    ) -> None:
        super().__init__(message, hint, **arguments)
        self.reason = reason


class Exhausted(MemoryBankError):
    """The machine has no memory or no thread left for the work; nothing is damaged."""


_NO_MEMORY = (
    "cannot allocate memory", "failed to map segment", "out of memory", "os error 12", "code: 12,"
)  # fmt: skip
_NO_THREAD = ("can't start new thread", "failed to spawn", "os error 11", "code: 11,")
"""Words in errors of libraries, in lower case."""
_TOLD_BY_WORDS = frozenset({"ImportError", "PanicException", "RuntimeError", "ValueError"})
_MOST_CAUSES = 20


def exhausted(error: BaseException) -> Exhausted | None:
    """Return a plain error if memory or threads ran out, also as the cause; else None."""
    for one in _causes(error):
        said = str(one).lower() if type(one).__name__ in _TOLD_BY_WORDS else ""
        number = one.errno if isinstance(one, OSError) else 0
        if (
            isinstance(one, MemoryError)
            or number == errno.ENOMEM
            or any(words in said for words in _NO_MEMORY)
        ):
            return Exhausted(
                "this machine has no memory left for it",
                "end other programs, or allow more memory (ulimit -v, or the container's limit)",
            )
        if any(words in said for words in _NO_THREAD):
            return Exhausted(
                "this machine allows no further thread or process",
                "end other programs, or allow more of them (ulimit -u, or the container's limit)",
            )
    return None


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error, what caused it, and the members of a group, of which there may be cycles."""
    waiting, seen = [error], list[BaseException]()
    while waiting and len(seen) < _MOST_CAUSES:
        one = waiting.pop()
        if any(one is other for other in seen):
            continue
        seen.append(one)
        yield one
        waiting += filter(None, (one.__cause__, one.__context__))
        waiting += one.exceptions if isinstance(one, BaseExceptionGroup) else ()
