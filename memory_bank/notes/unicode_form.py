"""Normalise text to NFC in linear time."""

from __future__ import annotations

import re
import unicodedata

_LONGEST = 60
"""Maximum length of a run of marks that is sorted as one; real text has fewer than ten."""

# Of combining class 0, but they decompose to marks.
_MARKS = "\u0f73\u0f75\u0f81"


def nfc(text: str) -> str:
    """Return a text in NFC.

    A run of more than 60 combining marks is normalised in pieces of 60, since the library sorts
    marks in quadratic time.
    """
    if text.isascii():
        return text
    parts, done = list[str](), 0
    at = _LONGEST
    # A run of more marks includes one of these offsets.
    while at < len(text):
        if not _is_mark(text[at]):
            at += _LONGEST
            continue
        start, end = at, at + 1
        while start > done and _is_mark(text[start - 1]):
            start -= 1
        while end < len(text) and _is_mark(text[end]):
            end += 1
        if end - start > _LONGEST:
            parts.append(unicodedata.normalize("NFC", text[done:start]))
            pieces = (
                text[place : min(place + _LONGEST, end)] for place in range(start, end, _LONGEST)
            )
            parts += (unicodedata.normalize("NFC", piece) for piece in pieces)
            done = end
        at = end + _LONGEST
    return "".join((*parts, unicodedata.normalize("NFC", text[done:])))


def _is_mark(char: str) -> bool:
    return unicodedata.combining(char) > 0 or char in _MARKS


BREAK = re.compile(r"\r\n|\n|\r")
