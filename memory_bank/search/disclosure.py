"""What of a note is shown: the matching section, and a snippet around the words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from memory_bank.retrievers._words import STOP_WORDS

SNIPPET = 240
"""Characters of a snippet, about."""
_HEADINGS = re.compile(r"\A(?:[ ]{0,3}#{1,6}[ \t][^\n]*\n+|[ \t]*\n)+")
_LINES = re.compile(r"\r\n|\r|\n")


def lines_of(text: str) -> list[str]:
    r"""Split a text into lines as Markdown counts them: at \r\n, \r and \n only."""
    return _LINES.split(text)


def span(lines: Sequence[str], line: int, end_line: int) -> str:
    """Return the lines from `line` up to, not including, `end_line`; blank ones around cut."""
    return "\n".join(lines[line - 1 : end_line - 1]).strip("\n")


def snippet(text: str, question: str, size: int = SNIPPET) -> str:
    """Return the stretch of a text where most of a question's words are, white space folded.

    Headings at the start are left out: an answer names them anyway.
    """
    folded = " ".join((_HEADINGS.sub("", text) or text).split())
    if len(folded) <= size:
        return folded
    places = [match.start() for match in _exact_words(question).finditer(folded)]
    places = places or [match.start() for match in _words(question).finditer(folded)]
    start = _densest(places, size) if places else 0
    if start:
        start = folded.find(" ", max(0, start - size // 6)) + 1
    end = start + size
    cut = folded.rfind(" ", start, end) if end < len(folded) else len(folded)
    shown = folded[start : cut if cut > start else end]
    return ("… " if start else "") + shown + (" …" if end < len(folded) else "")


def _densest(places: Sequence[int], size: int) -> int:
    """Return the place from which most others lie within `size` characters."""
    best, most, last = places[0], 0, 0
    for first, place in enumerate(places):
        while last < len(places) and places[last] < place + size:
            last += 1
        if last - first > most:
            best, most = place, last - first
    return best


@lru_cache(maxsize=64)
def _exact_words(question: str) -> re.Pattern[str]:
    """Match the words of a question as they stand there."""
    words = sorted(re.escape(word) for word in _subject(question)) or [r"(?!)"]
    return re.compile(r"\b(?:" + "|".join(words) + r")\b", re.IGNORECASE)


@lru_cache(maxsize=64)
def _words(question: str) -> re.Pattern[str]:
    """Match the words of a question by their first letters, so that inflections count."""
    stems = {re.escape(word[: max(4, len(word) - 3)]) for word in _subject(question)} or {r"(?!)"}
    return re.compile(r"\b(?:" + "|".join(sorted(stems)) + ")", re.IGNORECASE)


def _subject(question: str) -> set[str]:
    """Return the words of a question that say what it is about."""
    return {word for word in re.findall(r"\w+", question) if word.lower() not in STOP_WORDS}
