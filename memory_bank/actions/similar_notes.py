"""Find a note whose text is nearly the same as a new one."""

from __future__ import annotations

import re
from typing import NamedTuple

from memory_bank.bank import Bank, View
from memory_bank.errors import MemoryBankError
from memory_bank.manifest import documents
from memory_bank.manifest.documents import DocumentRow
from memory_bank.notes import frontmatter
from memory_bank.retrievers.base import Question, Scope
from memory_bank.review.likeness import MAX_CHARACTERS, Words, share, words_of
from memory_bank.source import Span

ALIKE = 0.8
"""Share of words that two texts must have in common."""
_FEWEST_WORDS = 4
_ASKED = 24
"""Number of words for which the index is queried: the longest, which tend to be rare."""
_COMPARED = 5
"""Number of notes that are read."""
_HEADER = 4000
"""Bytes of front matter that a note of the same text may have more."""
_EVERY_LINE = Span(1, 1 << 60)
_RUN = re.compile(r"\w+")


class Alike(NamedTuple):
    """A note with nearly the same text as another."""

    path: str
    title: str
    share: float
    """Of the words that both have in common."""


def similar_to(bank: Bank, content: str, *, besides: str | None = None) -> str | None:
    """Return the path of the note whose text is the most similar to a content, if one nearly is it.

    The caller's index is up to date. It reads at most five notes, and never raises. The note at
    `besides` is not meant, nor are included files of the project.
    """
    try:
        return bank.read(lambda view: _nearest(bank, view, content, besides))
    except (MemoryBankError, UnicodeError):
        return None  # a remark must not fail a write


def similar_notes(
    view: View, content: str, known: dict[str, Words] | None = None, *, compared: int = _COMPARED
) -> dict[str, float]:
    """Map the paths of notes that are similar to a content to their share of common words.

    At most `compared` notes are read, those that the index finds first. `known` caches their words,
    for further calls on the same notes.
    """
    words = words_of(content)
    index = view.index.retrievers.get("notes")
    if index is None or words.total() < _FEWEST_WORDS:
        return {}
    size = len(content.encode(errors="replace"))
    runs = dict.fromkeys(_RUN.findall(content[:MAX_CHARACTERS]))
    asked = sorted(runs, key=len, reverse=True)[:_ASKED]
    found = index.find(Question(" ".join(asked)), compared, Scope())
    rows = documents.documents(view.manifest, found.documents)
    shares: dict[str, float] = {}
    cache = {} if known is None else known
    for row in rows.values():
        if _may_be(row, size):
            if row.key not in cache:
                cache[row.key] = words_of(_text(view, row))
            shares[row.key] = share(words, cache[row.key])
    return {key: value for key, value in shares.items() if value >= ALIKE}


def others_like(bank: Bank, path: str, content: str) -> tuple[Alike, ...]:
    """Return the notes whose texts are nearly the same as a note's, the most similar first."""

    def ask(view: View) -> tuple[Alike, ...]:
        found = similar_notes(view, content, compared=_COMPARED + 1)  # itself is among them
        rows = {key: documents.document_at(view.manifest, key) for key in found if key != path}
        some = [Alike(key, row.title, found[key]) for key, row in rows.items() if row]
        return tuple(sorted(some, key=lambda one: (-one.share, one.path)))

    return bank.read(ask)


def _nearest(bank: Bank, view: View, content: str, besides: str | None) -> str | None:
    found = {
        key: value
        for key, value in similar_notes(view, content).items()
        if key != besides and not bank.roots.is_included(key)
    }
    return max(found, key=lambda key: found[key], default=None)


def _may_be(row: DocumentRow, size: int) -> bool:
    return row.size <= 2 * size + _HEADER and row.data.get("status") != "archived"


def _text(view: View, row: DocumentRow) -> str:
    text = view.source.text(row.key, row.hash, _EVERY_LINE) or ""
    return frontmatter.split(text).body
