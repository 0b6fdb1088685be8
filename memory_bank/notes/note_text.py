"""A note's text, its front matter and its lines, each read when it is first asked for."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from functools import cached_property
from operator import itemgetter

from memory_bank.notes import frontmatter
from memory_bank.notes.block_positions import BREAK
from memory_bank.notes.code_spans import code_spans
from memory_bank.notes.frontmatter import Split
from memory_bank.notes.note import Fault


class NoteText:
    """The text of one Markdown file."""

    def __init__(self, path: str, text: str, size: int) -> None:
        """Take the path below the bank, the text without byte order mark, the size in bytes."""
        self.path = path
        self.text = text
        self.size = size

    @cached_property
    def parts(self) -> Split:
        """The front matter and the body."""
        return frontmatter.split(self.text)

    @property
    def head(self) -> str:
        """The front matter as written, without its fences."""
        return self.parts.block

    @property
    def body_start(self) -> int:
        """The offset of the body."""
        return len(self.text) - len(self.parts.body)

    @cached_property
    def _metadata(self) -> tuple[dict[str, object], tuple[Fault, ...]]:
        return frontmatter.metadata(self.parts)

    @property
    def keys(self) -> Mapping[str, object]:
        """The keys and values of the front matter; empty if it can't be parsed."""
        return self._metadata[0]

    @property
    def faults(self) -> tuple[Fault, ...]:
        """The faults of the front matter."""
        return self._metadata[1]

    @cached_property
    def code(self) -> list[tuple[int, int]]:
        """The start and end of each piece of code, in order."""
        start = self.body_start
        return [(start + first, start + end) for first, end in code_spans(self.parts.body)]

    def in_code(self, offset: int) -> bool:
        """Tell whether a character is in code."""
        before = bisect_right(self.code, offset, key=itemgetter(0)) - 1
        return before >= 0 and offset < self.code[before][1]

    def key_line(self, key: str) -> int:
        """Return the line of a top-level key of the front matter; 1 if it is not found."""
        found = re.search(rf"(?:\A|(?<=[\r\n]))[\"']?{re.escape(key)}[\"']?[ \t]*[:=]", self.head)
        return self.place(len(self.parts.opening) + found.start())[0] if found else 1

    @cached_property
    def _starts(self) -> list[int]:
        """The offsets at which the lines start."""
        return [0, *(found.end() for found in BREAK.finditer(self.text))]

    def place(self, offset: int) -> tuple[int, int]:
        """Return the 1-based line and column of an offset."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1
