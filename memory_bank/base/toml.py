"""Parse untrusted TOML in linear time, and find the offsets of its statements.

`tomllib` takes quadratic time for dotted keys (13 s for 60 kB of `a.a.a…`), recurses for each
bracket, and returns no offsets.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from typing import Any, NamedTuple

MAX_PARTS = 32
"""Maximum number of parts of a dotted key."""

MAX_DEPTH = 100
"""Maximum nesting of brackets."""

_TOKEN = re.compile(
    r'"""(?:[^"\\]|\\.|"{1,2}(?!"))*+(?:"{3,5}|\Z)'
    r"|'''(?:[^']|'{1,2}(?!'))*+(?:'{3,5}|\Z)"
    r'|"(?:[^"\\\n]|\\[^\n])*+"?'
    r"|'[^'\n]*+'?"
    r"|\#[^\r\n]*|[ \t]+|\r?\n|[A-Za-z0-9_+-]+|.",
    re.DOTALL,
)

_OPENING, _CLOSING = frozenset("[{"), frozenset("]}")

_LINE_ENDS = frozenset(["\n", "\r\n"])


class TooComplex(ValueError):
    """A text exceeds a limit: which one, and at which offset."""

    def __init__(self, reason: str, index: int) -> None:
        """Keep the reason and the offset."""
        super().__init__(reason)
        self.reason = reason
        self.index = index


class Statement(NamedTuple):
    """One `key = value` by its offsets in the text."""

    start: int
    key_end: int
    value: int
    value_end: int
    end: int
    """Offset after the comment and the line end."""


def loads(text: str) -> dict[str, Any]:
    """Parse TOML; raise ValueError, as TOMLDecodeError or TooComplex.

    An integer with more digits than Python converts raises a plain ValueError.
    """
    _check(text)
    return tomllib.loads(text)


def statements(text: str) -> Iterator[Statement]:
    """Yield the statements above the first table of a text that `loads` accepts."""
    depth = 0
    start = key_end = value = value_end = -1
    equal = False
    for found in _TOKEN.finditer(text):
        part = found[0]
        if part in _LINE_ENDS and not depth:
            if value >= 0:
                yield Statement(start, key_end, value, value_end, found.end())
            start, value, equal = -1, -1, False
        elif part[0] in " \t#\r\n":
            continue
        elif start < 0:
            if part == "[":
                return
            start, key_end = found.span()
        elif not equal:
            equal = part == "="
            key_end = key_end if equal else found.end()
        else:
            value = found.start() if value < 0 else value
            value_end = found.end()
            depth += (part in _OPENING) - (part in _CLOSING)
    if value >= 0:
        yield Statement(start, key_end, value, value_end, len(text))


def tables(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each table of a text that `loads` accepts starts, and its last statement ends.

    The first one is the part above all headers. Lines between two tables are blank or comments.
    """
    start = end = line = depth = 0
    fresh = True
    for found in _TOKEN.finditer(text):
        part = found[0]
        if part in _LINE_ENDS:
            if not depth:
                line = found.end()
                end = end if fresh else line
                fresh = True
        elif part[0] not in " \t#\r":
            if fresh and part == "[":
                yield start, end
                start = end = line
            fresh = False
            depth += (part in _OPENING) - (part in _CLOSING)
    yield start, end if fresh else len(text)


def _check(text: str) -> None:
    depth = dots = 0
    for found in _TOKEN.finditer(text):
        part = found[0]
        if part == ".":
            dots += 1
            if dots >= MAX_PARTS:
                raise TooComplex(f"a key of more than {MAX_PARTS} parts", found.start())
        elif part in _OPENING:
            depth += 1
            dots = 0
            if depth > MAX_DEPTH:
                raise TooComplex(f"nested deeper than {MAX_DEPTH} levels", found.start())
        elif part in _CLOSING:
            depth -= 1
            dots = 0
        elif part in _LINE_ENDS or part in ",=":
            dots = 0
