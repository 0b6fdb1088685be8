"""What a user asked in a session: its note keeps it, but it is no answer, so it is not searched."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from memory_bank.notes.note import Meta, NoteSection

_TYPE = "session"

_ASKED = re.compile(
    r"^[ \t]*[-*+][ \t]+(?:prompt \d{1,9}|request)::(.*(?:\r?\n[ \t]+\S.*)*)$",
    re.IGNORECASE | re.MULTILINE,
)

_LINE = re.compile(r"^[ \t]*[-*+][ \t]+(?:(?!fact::)[a-z_]{1,40}::[ \t])?(.*)$", re.MULTILINE)

_HEADING = re.compile(
    r"^ {0,3}#{1,6}[ \t]+(.*)$(?!\s*[-*+][ \t]+obs_type::[ \t]+decision)", re.MULTILINE
)

_LABEL = re.compile(r"^[^:]{1,80}: |\s\([^()]*\)$")
"""What titles have around a prompt: `Look into: … (a.py)`."""

_TIME = re.compile(r"^\s*\d{4}-\d\d-\d\dT\S+\s")

_WORD = re.compile(r"[^\W_]+")

_NOT_A_BREAK = re.compile(r"[^\r\n]+")

_LEAST = 3
"""Fewest words of a text that repeats the start of a prompt; fewer are there by chance."""


class Asked:
    """The prompts and requests of one session, as a tree of their words."""

    def __init__(self, texts: Iterable[str]) -> None:
        """Take the texts, each of one line."""
        self._after: dict[tuple[int, str], int] = {}
        self._ends = set[int]()
        for text in texts:
            at = 0
            for word in _words(text):
                at = self._after.setdefault((at, word), len(self._after) + 1)
            self._ends.add(at)

    def repeats(self, text: str) -> bool:
        """Tell whether a text is a prompt or the start of one, perhaps with its last word cut."""
        words = _words(text)
        if text.rstrip().endswith("…") and len(words) > _LEAST:
            words = words[:-1]
        at = 0
        for word in words:
            at = self._after.get((at, word), -1)
        return at > 0 and (len(words) >= _LEAST or at in self._ends)

    def made(self, text: str) -> bool:
        """Tell whether a title is made of a prompt, as `Change a.py for: …` is."""
        return self.repeats(text) or self.repeats(_LABEL.sub("", text))

    def headings(self, sections: Sequence[NoteSection], title: str) -> frozenset[str]:
        """Return the title and the headings that are made of a prompt; a decision's stays."""
        found = {heading for one in sections for heading in one.headings if self.made(heading)}
        decided = {one.headings[-1] for one in sections if ("obs_type", "decision") in one.fields}
        return frozenset(found - decided | ({title} if self.made(title) else set()))

    def removed(self, text: str) -> str:
        """Return lines of the note; those of prompts, and those that repeat one, are blank."""

        def blank(found: re.Match[str]) -> str:
            return _NOT_A_BREAK.sub("", found[0])

        def repeated(found: re.Match[str]) -> str:
            return blank(found) if self.made(found[1]) else found[0]

        return _HEADING.sub(repeated, _LINE.sub(repeated, _ASKED.sub(blank, text)))


def asked_in(meta: Meta, text: str) -> Asked | None:
    """Return what was asked in the session of a note; None if it is no session's note."""
    if meta.type != _TYPE or not {"session_id", "project"} <= meta.extra.keys():
        return None
    return Asked(_texts(text))


def _texts(text: str) -> Iterator[str]:
    for found in _ASKED.finditer(text):
        for line in found[1].splitlines():
            yield _TIME.sub("", line)


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]
