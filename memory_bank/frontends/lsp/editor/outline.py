"""The headings of a note as a tree, and notes and headings by words."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple, TypeVar

from memory_bank.bank.bank import Bank
from memory_bank.bank.open_index import View
from memory_bank.notes.characters import BREAK
from memory_bank.notes.note import Note, NoteSection
from memory_bank.search.manifest import document_rows, entries

MAX_FOUND = 200


class OutlineHeading(NamedTuple):
    """A heading with the headings below it, by offsets in the note's text."""

    name: str
    level: int
    start: int
    end: int
    """Where the sections below it end."""
    line_end: int
    """Where the heading's line ends."""
    below: tuple[OutlineHeading, ...] = ()


class OutlineMatch(NamedTuple):
    """A note or a heading in it."""

    name: str
    path: str
    line: int
    is_note: bool
    around: str = ""
    """The headings above it."""


def outline(note: Note) -> tuple[OutlineHeading, ...]:
    """Return the headings of a note as a tree."""
    return _tree([one for one in note.body.sections if one.level], len(note.text))


def _tree(found: Sequence[NoteSection], end: int) -> tuple[OutlineHeading, ...]:
    made = []
    at = 0
    while at < len(found):
        top = found[at]
        after = next(
            (i for i in range(at + 1, len(found)) if found[i].level <= top.level), len(found)
        )
        stop = found[after].start if after < len(found) else end
        line = BREAK.split(top.text, maxsplit=1)[0]
        below = _tree(found[at + 1 : after], stop) if after > at + 1 else ()
        name = top.headings[-1] or "(no text)"
        made.append(OutlineHeading(name, top.level, top.start, stop, top.start + len(line), below))
        at = after
    return tuple(made)


def search(bank: Bank, words: str, most: int = MAX_FOUND) -> list[OutlineMatch]:
    """Return the notes and headings that have all words, notes first, best matches first."""
    wanted = words.casefold().split()

    def matching(view: View) -> list[OutlineMatch]:
        notes = document_rows.titles(view.manifest)
        found = [
            OutlineMatch(title or key, key, 1, is_note=True)
            for key, title, _ in notes
            if _has(f"{title} {key}", wanted)
        ]
        titles = {(key, title) for key, title, _ in notes}
        for key, line, headings in entries.headings(view.manifest):
            is_title = len(headings) == 1 and (key, headings[0]) in titles
            if not is_title and _has(headings[-1], wanted):
                above = " > ".join(headings[:-1])
                found.append(OutlineMatch(headings[-1], key, line, is_note=False, around=above))
        return found

    found = bank.read(matching)
    found.sort(key=lambda one: (not _starts(one.name, wanted), not one.is_note))
    return found[:most]


def _has(text: str, words: Sequence[str]) -> bool:
    folded = text.casefold()
    return all(word in folded for word in words)


def _starts(name: str, words: Sequence[str]) -> bool:
    return bool(words) and name.casefold().startswith(words[0])


Text = TypeVar("Text")

Value = TypeVar("Value")


class Latest(Generic[Text, Value]):
    """Values by file. A text that is typed in replaces the one before, however long it is."""

    def __init__(self, most: int) -> None:
        """Keep the values of at most so many files, those used last."""
        self._most = most
        self._lock = threading.Lock()
        self._kept: dict[str, tuple[Text, Value]] = {}

    def get(self, file: str, text: Text, compute: Callable[[], Value]) -> Value:
        """Return the value of a file's text; it is computed if the text is not the latest one."""
        with self._lock:
            known = self._kept.pop(file, None)
            if known is not None and known[0] == text:
                self._kept[file] = known
                return known[1]
        value = compute()
        with self._lock:
            self._kept.pop(file, None)
            self._kept[file] = text, value
            while len(self._kept) > self._most:
                del self._kept[next(iter(self._kept))]
        return value
