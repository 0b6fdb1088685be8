"""The symbols of a source file as it is in the editor."""

from __future__ import annotations

import re
from typing import NamedTuple

from memory_bank.actions.editor.latest import Latest
from memory_bank.notes.block_positions import BREAK
from memory_bank.repo import parsing
from memory_bank.repo.code import ParsedFile, Symbol

_WORD = re.compile(r"[^\W\d]\w*")
_PARSED: Latest[tuple[str, str], ParsedFile] = Latest(64)
MAX_CHARACTERS = 1_000_000
"""Characters of a file that is parsed in an editor."""


class Place(NamedTuple):
    """A symbol and the place of its name in the text."""

    symbol: Symbol
    start: int
    end: int


def parsed(path: str, text: str) -> ParsedFile | None:
    """Return what is in a text with the name of a file; None for an unknown language."""
    first, _, _ = text[:200].partition("\n")
    language = parsing.language_of(path, first)
    if language is None or len(text) > MAX_CHARACTERS:
        return None

    def parse() -> ParsedFile:
        return parsing.parse(text.encode("utf-8", errors="replace"), language)

    return _PARSED.get(path, (text, language), parse)


def word_at(text: str, offset: int) -> tuple[str, int, int]:
    """Return the identifier at an offset, and its offsets; an empty one if there is none."""
    start = text.rfind("\n", 0, offset) + 1
    end = text.find("\n", offset)
    line = text[start : len(text) if end < 0 else end]
    for found in _WORD.finditer(line):
        if start + found.start() <= offset <= start + found.end():
            return found[0], start + found.start(), start + found.end()
    return "", offset, offset


def around(file: ParsedFile, line: int) -> list[Symbol]:
    """Return the symbols whose lines have a 1-based line, the innermost first."""
    found = [one for one in file.symbols if one.line <= line < one.end_line]
    return sorted(found, key=lambda one: one.end_line - one.line)


def places(file: ParsedFile, text: str) -> list[Place]:
    """Return the symbols of a text with the places of their names, in their order."""
    starts = [0, *(found.end() for found in BREAK.finditer(text))]
    found = []
    for one in file.symbols:
        first = starts[min(one.line, len(starts)) - 1]
        last = starts[one.end_line - 1] if one.end_line <= len(starts) else len(text)
        name = re.compile(rf"(?<!\w){re.escape(one.name)}(?!\w)")
        behind = first
        while (end := _doc_end(text, behind, last)) > behind:
            behind = end
        place = name.search(text, behind, last) or name.search(text, first, last)
        at = place.start() if place else first
        found.append(Place(one, at, at + len(one.name) if place else at))
    return found


def _doc_end(text: str, start: int, end: int) -> int:
    """Return the end of a line that is a comment or decorator; the offset if it is neither."""
    line_end = text.find("\n", start, end)
    line = text[start : line_end if line_end >= 0 else end].strip()
    if line_end >= 0 and (not line or line.startswith(("//", "/*", "*", "#", "--", "@"))):
        return line_end + 1
    return start
