"""Split a section into claims: sentences, list items, table rows and lines of code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
_FENCE = re.compile(r"[ \t>]*(?:[-*+][ \t]+|\d{1,9}[.)][ \t]+)?(`{3,}|~{3,})")
_STARTS = re.compile(r"[ \t>]*(?:[-*+][ \t]|\d{1,9}[.)][ \t]|\||#{1,6}[ \t]|\[[^\]\r\n]{1,200}\]:)")
_HEADING = re.compile(r"[ ]{0,3}#{1,6}(?:[ \t]|$)")
_UNDERLINE = re.compile(r"[ ]{0,3}(?:=+|-+)[ \t]*$", re.MULTILINE)
_SENTENCE_END = re.compile(r"[.!?\u2026][)\]\"'\u201d\u2019*_]*\s+(?![a-z])|[\u3002\uff01\uff1f]")


class Claim(NamedTuple):
    """A sentence, list item, table row or line of code, with the white space behind it."""

    text: str
    row: int
    """0-based line of the section where it starts."""
    kind: Literal["prose", "code", "heading", "blank"]

    @property
    def key(self) -> str:
        """Its text for comparison: white space matters in code only."""
        return self.text.rstrip() if self.kind == "code" else " ".join(self.text.split())


def claims(text: str, *, heading: bool) -> list[Claim]:
    """Split a section's text; the claims' texts joined are the text. `heading`: it starts so."""
    splitter = _Splitter()
    lines = _LINE.findall(text)
    if heading:
        size = _heading_lines(lines)
        splitter.add_heading(lines[:size])
        lines = lines[size:]
    for line in lines:
        splitter.add(line)
    splitter.finish()
    return splitter.found


class _Splitter:
    """The claims of the lines that were added."""

    def __init__(self) -> None:
        self.found: list[Claim] = []
        self.row = 0
        self.held: list[str] = []
        """Lines of a paragraph or list item."""
        self.fence = ""
        """The sign of an open block of code."""

    def add_heading(self, lines: Sequence[str]) -> None:
        self.found.append(Claim("".join(lines), 0, "heading"))
        self.row = len(lines)

    def add(self, line: str) -> None:
        content = line.strip(" \t>\r\n")
        opening = _FENCE.match(line)
        if self.fence or opening:
            self._add_code(line, content, opening[1] if opening else "")
        elif not content:
            self._add_blank(line)
        else:
            if _STARTS.match(line):
                self.finish()
            self.held.append(line)
        self.row += 1

    def finish(self) -> None:
        """End the paragraph or list item."""
        if self.held:
            self.found += _sentences("".join(self.held), self.row - len(self.held))
            self.held = []

    def _add_code(self, line: str, content: str, opening: str) -> None:
        self.finish()
        self.found.append(Claim(line, self.row, "code"))
        if not self.fence:
            self.fence = opening
        elif len(content) >= len(self.fence) and not content.strip(self.fence[0]):
            self.fence = ""

    def _add_blank(self, line: str) -> None:
        """Add a blank line to the claim before it."""
        self.finish()
        if self.found:
            last = self.found[-1]
            self.found[-1] = last._replace(text=last.text + line)
        else:
            self.found.append(Claim(line, self.row, "blank"))


def _heading_lines(lines: Sequence[str]) -> int:
    """Return the number of lines of the heading that a section starts with."""
    number = next((at for at, line in enumerate(lines) if line.strip()), 0)
    if lines and not _HEADING.match(lines[number]):
        while number + 1 < len(lines) and not _UNDERLINE.match(lines[number]):
            number += 1
    return number + 1


def _sentences(block: str, row: int) -> Iterator[Claim]:
    """Yield the sentences of a paragraph; a list item or table row is one claim."""
    if _STARTS.match(block):
        yield Claim(block, row, "prose")
        return
    start = 0
    for end in (*(found.end() for found in _SENTENCE_END.finditer(block)), len(block)):
        if start < end:
            yield Claim(block[start:end], row, "prose")
            row += _line_ends(block[start:end])
            start = end


def _line_ends(text: str) -> int:
    return text.count("\n") + text.count("\r") - text.count("\r\n")
