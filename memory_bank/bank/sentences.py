"""One sentence of a text: its first, or the one around a link."""

from __future__ import annotations

import re

from memory_bank.base.text import around
from memory_bank.notes import sections as sentences

_ENDS = re.compile(r"[.!?\u3002](?=\s|$)")

_HEADINGS = re.compile(r"\A(?:[ ]{0,3}#{1,6}[ \t][^\n]*(?:\n|\Z)|[ \t]*\n)+")

_MARKS = "#>*-+ \t"
"""Signs of Markdown at the start of a line."""

_FEW = 3
"""Number of words besides its link below which a sentence says nothing."""


def first_sentence(text: str) -> str:
    """Return the first sentence of a text below its headings, on one line."""
    paragraph = (_HEADINGS.sub("", text) or text).strip().partition("\n\n")[0]
    return sentences.first_sentence(paragraph).lstrip(_MARKS)


def sentence_around(before: str, link: str, after: str) -> str:
    """Return the sentence of a link with the text before and after it; empty if it says nothing."""
    starts = [end.end() for end in _ENDS.finditer(before)]
    start = before[starts[-1] :] if starts else before
    end = _ENDS.search(after)
    rest = after[: end.end()] if end else after
    if len(f"{start} {rest}".split()) < _FEW:
        return ""
    return " ".join(around(start, link, rest).split()).lstrip(_MARKS)
