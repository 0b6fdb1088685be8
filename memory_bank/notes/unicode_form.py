"""Unicode's composed form, in time that grows with the text."""

from __future__ import annotations

import unicodedata

_LONGEST = 60
"""Marks in a row that are put in order; the longest of any language are below ten."""
# Letters by their class, but what they stand for are marks.
_MARKS = "\u0f73\u0f75\u0f81"


def nfc(text: str) -> str:
    """Return a text in the form NFC.

    Of more than 60 combining marks in a row, each 60 are composed by themselves: the library puts
    marks in order in the square of their number.
    """
    if text.isascii():
        return text
    parts, done = list[str](), 0
    at = _LONGEST
    # A run of more than that many marks holds one of these places.
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
