"""Find a note whose text is nearly the same as a new one."""

from __future__ import annotations

import re
from collections import Counter

from memory_bank.bank import Bank, View
from memory_bank.errors import MemoryBankError
from memory_bank.manifest import documents
from memory_bank.manifest.documents import DocumentRow
from memory_bank.notes import frontmatter
from memory_bank.retrievers.base import Question, Scope
from memory_bank.source import Span

_ALIKE = 0.8
"""Share of words that two texts must have in common."""
_FEWEST_WORDS = 4
_CHARACTERS = 20_000
"""Maximum length of the start of a text that is compared."""
_ASKED = 24
"""Number of words for which the index is queried: the longest, which tend to be rare."""
_COMPARED = 5
"""Number of notes that are read."""
_HEADER = 4000
"""Bytes of front matter that a note of the same text may have more."""
_EVERY_LINE = Span(1, 1 << 60)
_CJK = "\u3040-\u9fff\uac00-\ud7af"
_RUN = re.compile(r"\w+")
_WORD = re.compile(rf"[{_CJK}]|[^\W{_CJK}]+")


def similar_to(bank: Bank, content: str, *, besides: str | None = None) -> str | None:
    """Return the path of the note whose text is the most similar to a content, if one nearly is it.

    The caller's index is up to date. It reads at most five notes, and never raises. The note at
    `besides` is not meant, nor are included files of the project.
    """
    words = _words(content)
    if words.total() < _FEWEST_WORDS:
        return None
    try:
        return bank.read(lambda view: _nearest(bank, view, content, words, besides))
    except (MemoryBankError, UnicodeError):
        return None  # a remark must not fail a write


def _nearest(
    bank: Bank, view: View, content: str, words: Counter[str], besides: str | None
) -> str | None:
    index = view.index.retrievers.get("notes")
    if index is None:
        return None
    size = len(content.encode())
    runs = dict.fromkeys(_RUN.findall(content[:_CHARACTERS]))
    asked = sorted(runs, key=len, reverse=True)[:_ASKED]
    found = index.find(Question(" ".join(asked)), _COMPARED, Scope())
    rows = documents.documents(view.manifest, found.documents)
    shares = {
        row.key: _share(words, _words(text))
        for row in rows.values()
        if row.key != besides and not bank.roots.is_included(row.key)
        if _may_be(row, size) and (text := _text(view, row))
    }
    best = max(shares, key=lambda key: shares[key], default=None)
    return best if best is not None and shares[best] >= _ALIKE else None


def _may_be(row: DocumentRow, size: int) -> bool:
    return row.size <= 2 * size + _HEADER and row.data.get("status") != "archived"


def _text(view: View, row: DocumentRow) -> str:
    text = view.source.text(row.key, row.hash, _EVERY_LINE) or ""
    return frontmatter.split(text).body


def _words(text: str) -> Counter[str]:
    return Counter(_WORD.findall(text[:_CHARACTERS].lower()))


def _share(one: Counter[str], other: Counter[str]) -> float:
    """Return the share of words in common: 1 for the same words, whatever their order."""
    return 2 * (one & other).total() / ((one.total() + other.total()) or 1)
