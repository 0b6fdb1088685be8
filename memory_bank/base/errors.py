"""The errors of this package: what happened, where, and what to do next."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from enum import StrEnum
from itertools import takewhile
from typing import Self


class Hint(StrEnum):
    """A step after an error; its value is for callers of the Python API.

    Names in braces are arguments of the error.
    """

    TRY_AGAIN = "try again"
    MAKE_BANK = "make a bank in your project"
    MAKE_FOLDER = "make it, or make a bank in your project"
    MAKE_OR_NAME_BANK = "make a bank in your project, or name one"
    NAME_BANK = "name the bank"
    NAME_THAT_BANK = "if you mean that bank, name it: {bank}, or MEMORY_BANK"
    LIST_RULES = "list the rules"
    LIST_NOTES = "list the notes to see their names"
    SEARCH_IDS = "search for its id; ids are texts like obs-3f2a9c1b7d04"
    LIST_GHOSTS = "list the ghosts to see their names"
    LIST_TRASH = "list the deleted notes"
    CHECK_BANK = "check the bank"
    READ_AGAIN = "read the note again"
    READ_AND_REPEAT = "read it again, then repeat the change on what it says now"
    LOOK_AND_REPEAT = "look at the notes and try again"
    CHOOSE_ANOTHER_NAME = "choose another name, or update that note"
    CHOOSE_FREE_NAME = "choose another name"
    DELETE_INSTEAD = "to remove a note, delete it"
    CHANGE_INCLUDED = "change the file itself in an editor, or write a note that links to it"
    PROMOTE = "promote an observation of it to make a tracked note"
    KEEP_IN_BANK = (
        'leave it where it is; notes of sessions are in the bank with [sessions] keep = "project"'
    )
    GIVE_TEXT = "give the text to remember"
    GIVE_TEXT_TO_APPEND = "give the text to append"
    GIVE_MERGED_TEXT = "give the text that the notes become"
    GIVE_OLD_OR_SECTION = "give either old or section"
    GIVE_HEADING_PATH = "give its path: A > B"
    GIVE_MORE_CONTEXT = "give more of the text around it"
    GIVE_NAME = "give the note a name of its own"
    WRITE_ENTITY = 'write KIND:ID, for example person:sarah, or {{"kind": "person", "id": "sarah"}}'
    GIVE_TAG_LETTER = "give it at least one letter or digit"
    NAME_BELOW_BANK = "name the note by its path below the bank"
    USE_NAME_CHARACTERS = "use letters, digits, '-', '_', '.' and '/'"
    WRITE_TIME = "use 7d, last week, monday, october, or a date like 2026-05-08"
    RESOLVE_CONFLICT = (
        "resolve it whole in one edit: keep what holds, remove the lines of <<<<<<<, ======= and"
        " >>>>>>>; indent them where a note only shows a conflict"
    )
    WRITE_ELSEWHERE = (
        "write where it is kept instead; a person who wants it there may allow it,"
        " or add to the settings: [secrets] allow = [{hashes}]"
    )
    LIST_EMBEDDERS = "list the embedders"
    TEST_EMBEDDER = "see what the embedder lacks"
    TEST_SERVER = "is the server running?"
    LIST_IMPORTERS = "list what can be imported"
    NAME_ANOTHER_FILE = "name another file of a token"
    USE_USER_SCOPE = "use the user's own configuration"
    REMOVE_LINK_OR_USE_USER_SCOPE = "remove the link, or use the user's own configuration"
    NAME_SERVER = "give this one a name of its own, for example {name}-2"
    REMOVE_BY_HAND = "remove it by hand, or name another one"
    EDIT_BY_HAND = "repair it, or make the change yourself"
    EDIT_HOOKS_BY_HAND = "repair it, or add the hooks yourself"
    SET_SHARED_URL = "name one in MEMORY_BANK_SHARED_URL, or in your own settings: [shared] url"
    MAKE_SHARED = "its operator makes the tables"
    MAKE_SHARED_ANEW = "its operator makes it anew, and all publish again"
    FORCE_PUBLISH = "fetch it and publish a commit that follows it, or replace it by force"


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
        step = self._step
        if isinstance(step, Hint):
            step = words.get(step, step)
        if isinstance(self._step, Hint) or self._arguments:
            step = step.format_map({name: quote(text) for name, text in self._arguments.items()})
        return "; ".join(filter(None, (self.kept and quote(self.kept), step)))

    @classmethod
    def after(cls, error: MemoryBankError, message: str) -> Self:
        """Return an error of this class with the hint of another one."""
        copied = cls(message)
        copied._step, copied._arguments, copied.kept = error._step, error._arguments, error.kept
        return copied

    def at(self, where: str) -> Self:
        """Return the same error with a place before its message."""
        error = copy(self)
        error.message = f"{where}: {self.message}"
        error.args = (error.message,)
        return error

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


class IndexOutdated(IndexDamaged):
    """A derived file was made by another version of this program."""


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


class PluginFailed(MemoryBankError):
    """A part of an installed package can't be used."""


class Exhausted(MemoryBankError):
    """The machine has no memory or no thread left for the work; nothing is damaged."""


_NO_MEMORY = (
    "cannot allocate memory", "failed to map segment", "out of memory", "os error 12", "code: 12,"
)  # fmt: skip

_NO_THREAD = (
    "can't start new thread", "failed to spawn", "os error 11", "code: 11,",
    os.strerror(errno.EAGAIN).lower(),
)  # fmt: skip
"""Words in errors of libraries, in lower case: Python's, Rust's, and those of C++."""

_TOLD_BY_WORDS = frozenset({"ImportError", "PanicException", "RuntimeError", "ValueError"})

# A chain of causes may have cycles.
_MOST_CAUSES = 20


def find_exhausted(error: BaseException) -> Exhausted | None:
    """Return a plain error if memory or threads ran out, also as the cause; else None."""
    for cause in _causes(error):
        text = str(cause).lower() if type(cause).__name__ in _TOLD_BY_WORDS else ""
        number = cause.errno if isinstance(cause, OSError) else 0
        if (
            isinstance(cause, MemoryError)
            or number == errno.ENOMEM
            or any(words in text for words in _NO_MEMORY)
        ):
            return Exhausted(
                "this machine has no memory left for it",
                "end other programs, or allow more memory (ulimit -v, or the container's limit)",
            )
        if any(words in text for words in _NO_THREAD):
            return Exhausted(
                "this machine allows no further thread or process",
                "end other programs, or allow more of them (ulimit -u, or the container's limit)",
            )
    return None


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error, what caused it, and the members of a group, of which there may be cycles."""
    waiting, causes = [error], list[BaseException]()
    while waiting and len(causes) < _MOST_CAUSES:
        cause = waiting.pop()
        if any(cause is former for former in causes):
            continue
        causes.append(cause)
        yield cause
        waiting += filter(None, (cause.__cause__, cause.__context__))
        waiting += cause.exceptions if isinstance(cause, BaseExceptionGroup) else ()


def similar_names(
    name: str, known_names: Iterable[str], *, most: int = 3, least: float = 0.6
) -> list[str]:
    """Return the known names that are similar to a name, the most similar first, at most `most`.

    `least` is the similarity as in difflib, 0 to 1; letters in another order are always similar.
    """
    from difflib import get_close_matches  # start-up: few commands suggest

    folded = name.casefold()
    spelled = {word.casefold(): word for word in known_names}
    reordered = [spelling for spelling in spelled if sorted(spelling) == sorted(folded)]
    near = get_close_matches(folded, list(spelled), n=most, cutoff=least)
    return [spelled[spelling] for spelling in dict.fromkeys([*reordered, *near])][:most]


def did_you_mean(names: Iterable[str]) -> str:
    """Return `; did you mean A or B?`; empty without names."""
    near = " or ".join(names)
    return f"; did you mean {near}?" if near else ""


def without_one_letter(name: str) -> set[str]:
    """Return a name, and all that are left of it without one of its characters."""
    return {name, *(name[:at] + name[at + 1 :] for at in range(len(name)))}


_ALIKE = ({"0", "o"}, {"1", "l"}, {"1", "i"})


def differ_by_one_letter(text: str, other: str) -> bool:
    """Tell whether one letter is added, missing or another, or two stand in the other order.

    Digits, and letters alone between signs, count things: `part-a` and `part-b` are two names; but
    a letter and a digit that look alike are one.
    """
    start = count_same(text, other)
    end = count_same(text[start:][::-1], other[start:][::-1])
    left, right = text[start : len(text) - end], other[start : len(other) - end]
    if len(left) > 1 or len(right) > 1:
        return len(left) == 2 and left.isalpha() and left == right[::-1]  # noqa: PLR2004
    if {left, right} in _ALIKE:
        return True
    if not (left + right).isalpha():
        return False
    beside = text[max(start - 1, 0) : start] + text[len(text) - end :][:1]
    return any(map(str.isalpha, beside))


def count_same(text: Sequence[str], other: Sequence[str]) -> int:
    """Return the number of characters, or other items, with which both begin."""
    return sum(
        1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(text, other, strict=False))
    )
