"""Offsets in a text as positions of the protocol: line and code units, usually of UTF-16."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache

from lsprotocol.types import Position, Range

_BREAK = re.compile(r"\r\n|\n|\r")
UTF8, UTF16, UTF32 = "utf-8", "utf-16", "utf-32"


class Positions:
    """The lines of a text: they end with LF, CRLF or CR only, as the protocol says."""

    def __init__(self, text: str, encoding: str = UTF16) -> None:
        """Take a text, and the encoding whose code units the client counts."""
        self._text = text
        self._encoding = encoding
        self._starts = [0, *(found.end() for found in _BREAK.finditer(text))]
        self._ends = [*(found.start() for found in _BREAK.finditer(text)), len(text)]

    def position(self, offset: int) -> Position:
        """Return the position of an offset; one beyond the text is its end."""
        offset = min(max(offset, 0), len(self._text))
        line = bisect_right(self._starts, offset) - 1
        start = self._starts[line]
        return Position(line, self._units(self._text[start : min(offset, self._ends[line])]))

    def range(self, start: int, end: int) -> Range:
        """Return the range between two offsets."""
        return Range(self.position(start), self.position(end))

    def offset(self, position: Position) -> int:
        """Return the offset of a position; one behind its line's end is that end."""
        if position.line >= len(self._starts):
            return len(self._text)
        start, end = self._starts[position.line], self._ends[position.line]
        line = self._text[start:end]
        if line.isascii() or self._encoding == UTF32:
            return start + min(position.character, len(line))
        units = 0
        for at, char in enumerate(line):
            if units >= position.character:
                return start + at
            units += self._units(char)
        return end

    def line_start(self, line: int) -> Position:
        """Return the position of the start of a line, which is 1-based."""
        return Position(min(max(line, 1), len(self._starts)) - 1, 0)

    def _units(self, text: str) -> int:
        if text.isascii() or self._encoding == UTF32:
            return len(text)
        if self._encoding == UTF8:
            return len(text.encode(errors="surrogatepass"))
        return len(text) + sum(char > "\uffff" for char in text)


@lru_cache(8)
def positions(text: str, encoding: str) -> Positions:
    """Return the lines of a text; those of the last texts are kept."""
    return Positions(text, encoding)
