"""Fingerprints of code, which stay when only its layout, comments or place change."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Sequence
from sys import intern

from blake3 import blake3

DIGITS = 16
OPEN, CLOSE = "\x02", "\x03"
"""Stand for the start and end of a block that only the layout shows."""
_LAYOUT = frozenset([OPEN, CLOSE])
_CLOSING = frozenset(")]}")


class Tokens:
    """The tokens of a file without comments and docs, in order, with the bytes where they start."""

    def __init__(self) -> None:
        self._starts = array("Q")  # a list takes as much memory as the syntax tree
        self._texts: list[str] = []

    def add(self, start: int, text: str) -> None:
        """Add the next token; a comma before a closing bracket is dropped, as formatters add it."""
        if text in _CLOSING:
            self.drop_comma()
        self._starts.append(start)
        self._texts.append(intern(text))

    def drop_comma(self) -> None:
        """Remove the last token if it is a comma."""
        if self._texts and self._texts[-1] == ",":
            self._texts.pop()
            self._starts.pop()

    def fingerprint(self, start: int, end: int) -> str:
        """Return the hex digits of the tokens between two bytes: BLAKE3 of their texts."""
        first, last = bisect_left(self._starts, start), bisect_left(self._starts, end)
        # a definition that is the first or last of a block starts or ends with it
        while first < last and self._texts[first] in _LAYOUT:
            first += 1
        while first < last and self._texts[last - 1] in _LAYOUT:
            last -= 1
        return fingerprint(self._texts[first:last])


def fingerprint(tokens: Sequence[str]) -> str:
    """Return the hex digits of some tokens."""
    return blake3("\0".join(tokens).encode("utf-8", "replace")).hexdigest()[:DIGITS]
