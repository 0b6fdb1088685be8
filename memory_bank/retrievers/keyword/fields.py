"""The texts of a passage, or of a document, by the fields of the keyword indexes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from memory_bank.retrievers.keyword.analyzer import cleaned, grams, identifier_parts

FIELDS = {"body": 1.0, "identifiers": 0.3, "about": 0.4}
"""Stemmed fields and their weights; the body has the title and the headings, too."""
GRAMS = "grams"
"""The field of character bigrams, separated by spaces."""


def fields_of(
    title: str,
    passages: Sequence[tuple[Sequence[str], str]],
    *,
    keywords: str = "",
    about: str = "",
) -> dict[str, str]:
    """Return the texts of some passages, given as headings and text; no text is empty."""
    headings = [heading for some, _ in passages for heading in some if heading != title]
    above = "\n".join((title, *dict.fromkeys(headings)))
    parts = [_analyzed(text) for text in (above, *(text for _, text in passages))]
    rest = identifier_parts(f"{keywords}\n{about}")
    found = {
        "body": "\n".join((above, *(part.text for part in parts[1:]), keywords)),
        "about": about,
        "identifiers": " ".join(filter(None, (*(part.identifiers for part in parts), rest))),
        GRAMS: " ".join(filter(None, (part.grams for part in parts))),
    }
    return {field: text for field, text in found.items() if text}


def forget() -> None:
    """Forget the texts that were analyzed for a batch."""
    _analyzed.cache_clear()


class _Analyzed(NamedTuple):
    """A text with the derived text of other fields."""

    text: str
    identifiers: str
    grams: str


@lru_cache(maxsize=1 << 15)
def _analyzed(text: str) -> _Analyzed:
    """Analyze a text; cached for a batch, since both units index every passage."""
    plain = cleaned(text)
    return _Analyzed(plain, identifier_parts(plain), grams(plain))
