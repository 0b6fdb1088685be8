"""Tell in one line which embedder serves a bank whose notes are mostly not in English."""

from __future__ import annotations

import re
from itertools import islice

from memory_bank.bank.bank import Bank
from memory_bank.base import plugins
from memory_bank.base.errors import MemoryBankError
from memory_bank.notes.characters import decode

_ENGLISH = frozenset(["minilm", "static"])
"""Embedders that were made from English texts."""

_READ, _FEWEST, _FEWEST_WORDS = 60, 3, 10
"""Notes that are read at most, and number of notes below which nothing is said; words from
which a note is judged."""

_LEAST = 0.1
"""Share of function words in an English note: of 213 notes of three banks, 14 have less, most of
them lists and code; of 16 German ones, 15."""

_WORD = re.compile(r"[^\W\d_]+")

_NO_PROSE = re.compile(r"\A---\r?\n.*?\n---\r?\n|```.*?```|`[^`\n]*`|https?://\S+", re.DOTALL)


def multilingual_hint(bank: Bank) -> str:
    """Return how to use the embedder for other languages if most notes are in one, else nothing."""
    if bank.settings.memory.embedder not in _ENGLISH:
        return ""
    try:
        paths = islice([key for root in bank.roots.all() for key in root.scan().signatures], _READ)
        texts = [decode(data).text for path in paths if (data := bank.roots.of(path).read(path))]
    except (MemoryBankError, UnicodeError):
        return ""
    foreign = sum(map(is_other_language, texts))
    if foreign < _FEWEST or foreign * 2 <= len(texts):
        return ""
    return (
        "most notes are not in English: `memory-bank embedder use multilingual` finds more by"
        f" meaning; {plugins.install_hint('multilingual')}"
    )


def is_other_language(text: str) -> bool:
    """Return whether a text is in another script than Latin, or has few English function words."""
    from memory_bank.search.retrievers.keyword.analyzer import STOP_WORDS  # start-up: tantivy

    words = [word.casefold() for word in _WORD.findall(_NO_PROSE.sub(" ", text))]
    letters = "".join(words)
    if sum(letter > "\u024f" for letter in letters) > len(letters) / 2:
        return True
    return len(words) >= _FEWEST_WORDS and sum(word in STOP_WORDS for word in words) < _LEAST * len(
        words
    )
