"""The texts of hits, read from the files of their documents."""

from __future__ import annotations

from collections.abc import Collection

from memory_bank.bank import View
from memory_bank.manifest.documents import PassageRow
from memory_bank.search import snippets
from memory_bank.search.engine import Hit
from memory_bank.source import Section, Span


def lines(view: View, hit: Hit, span: Span) -> str | None:
    """Return lines of a hit's document; None if it changed since it was indexed."""
    return view.source.text(hit.document.key, hit.document.hash, span)


def snippet(view: View, hit: Hit, passage: PassageRow, text: str) -> str:
    """Return the part of a passage that has most words of a query."""
    return snippets.snippet(lines(view, hit, passage.span) or "", text)


def heading(place: Section, asked: Collection[str] = ()) -> str:
    """Return the headings above a place, the outermost first, without those that were asked."""
    return " > ".join(one for one in place.headings if one not in asked)
