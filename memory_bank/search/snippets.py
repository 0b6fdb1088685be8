"""Snippets: the piece of a text around the words of a question."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import lru_cache

from memory_bank.search.retrievers.keyword import analyzer

SNIPPET = 240
"""Approximate length of a snippet, in characters."""

_LINK = re.compile(r"!?\[\[(?:[^\[\]|]*\|([^\[\]]+)|([^\[\]|]+))\]\]|!?\[([^\[\]]*)\]\([^()\s]*\)")
"""A link on one line; what stands between backticks is not told apart."""

_HEADINGS = re.compile(r"\A(?:[ ]{0,3}#{1,6}[ \t][^\n]*\n+|[ \t]*\n)+")


def without_links(text: str) -> str:
    """Return a text of Markdown with the words of its links in place of the links."""
    return _LINK.sub(lambda found: found[1] or found[2] or found[3] or "", text)


def snippet(text: str, question: str, size: int = SNIPPET) -> str:
    """Return the piece of a text with most of a question's words, white space folded.

    Headings at the start are left out, since an answer has them in another field.
    """
    folded = " ".join((_HEADINGS.sub("", text) or text).split())
    if len(folded) <= size:
        return folded
    lowered = folded.lower()
    words = _content_words(question)
    places = _places(lowered, words, whole=True)
    if not places:  # count inflections: words with the same beginning
        stems = {_stem(word) for word in words}
        places = _places(lowered, stems, whole=False)
    start = _densest(sorted(places), size) if places else 0
    if start:
        start = folded.find(" ", max(0, start - size // 6)) + 1
    end = start + size
    cut = folded.rfind(" ", start, end) if end < len(folded) else len(folded)
    shown = folded[start : cut if cut > start else end]
    return ("… " if start else "") + shown + (" …" if end < len(folded) else "")


def count_words(question: str, text: str) -> float:
    """Return how many of a question's words a text has; one with another ending counts half."""
    lowered, found = text.lower(), 0.0
    for word in _content_words(question):
        if _places(lowered, [word], whole=True):
            found += 1
        elif _places(lowered, [_stem(word)], whole=False):
            found += 0.5
    return found


def matches(text: str, question: str) -> list[tuple[int, int]]:
    """Return where the words of a text are that have a stem in common with a question's words."""
    wanted = {one.stem for one in analyzer.weighted_stems(question)}
    found = []
    for word in re.finditer(r"[^\W_]+", text):
        stems = analyzer.stems(word[0]) + analyzer.stems(analyzer.identifier_parts(word[0]))
        if not wanted.isdisjoint(stems):
            found.append(word.span())
    return found


def _stem(word: str) -> str:
    return word[: max(4, len(word) - 3)]


def _densest(places: Sequence[int], size: int) -> int:
    """Return the place from which most others lie within `size` characters."""
    best, most, last = places[0], 0, 0
    for first, place in enumerate(places):
        while last < len(places) and places[last] < place + size:
            last += 1
        if last - first > most:
            best, most = place, last - first
    return best


def _places(text: str, words: Collection[str], *, whole: bool) -> list[int]:
    """Return where words begin in a text; compiling a pattern would take longer than this loop."""
    found = []
    padded = f" {text} "
    for word in words:
        place = padded.find(word, 1)
        while place > 0:
            after = place + len(word)
            before, behind = padded[place - 1], padded[after] if whole else " "
            if not (before.isalnum() or before == "_" or behind.isalnum() or behind == "_"):
                found.append(place - 1)
            place = padded.find(word, after)
    return found


@lru_cache(maxsize=64)
def _content_words(question: str) -> frozenset[str]:
    """Return the words of a question that are no stop words, in lower case."""
    words = (word.lower() for word in re.findall(r"\w+", question))
    return frozenset(word for word in words if word not in analyzer.STOP_WORDS)
