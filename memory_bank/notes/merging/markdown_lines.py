"""What a line of Markdown is, as far as a merge must know it: no parser, which starts slowly."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t\r]|\Z)")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|[0-9]{1,9}[.)])(?:[ \t]|\r?$)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")


class Heading(NamedTuple):
    """A heading of one line."""

    level: int
    text: str


def is_blank(line: str) -> bool:
    """Tell whether a line has white space only."""
    return not line or line.isspace()


def heading(line: str) -> Heading | None:
    """Return the heading that a line is, `#` to `######`."""
    found = _HEADING.match(line) if "#" in line[:4] else None
    if found is None:
        return None
    text = line[found.end() :].strip()
    bare = text.rstrip("#")
    return Heading(len(found[1]), bare.strip() if not bare or bare[-1].isspace() else text)


def is_row(line: str) -> bool:
    """Tell whether a line stands for itself: an item of a list, or a row of a table."""
    return bool(_ITEM.match(line)) or line.lstrip().startswith("|")


def says_something(line: str) -> bool:
    """Tell whether a line has a letter or digit, and is no fence of code."""
    return not _FENCE.match(line) and any(map(str.isalnum, line))


def code(lines: Sequence[str]) -> tuple[list[bool], bool]:
    """Tell of each line whether it follows the start of a fence of code, and if one stays open."""
    fence = ""
    inside: list[bool] = []
    for line in lines:
        inside.append(bool(fence))
        found = _FENCE.match(line) if "```" in line or "~~~" in line else None
        if not found:
            continue
        if not fence:
            fence = found[1] if found[1][0] == "~" or "`" not in found[2] else ""
        elif found[1].startswith(fence) and is_blank(found[2]):
            fence = ""
    return inside, bool(fence)


def may_part(above: str | None, below: str | None) -> bool:
    """Tell whether two lines belong to different blocks; None is the start or end of a text."""
    if above is None or below is None or is_blank(above) or is_blank(below):
        return True
    return bool(heading(above) or heading(below)) or is_row(below)


def blocks(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the first line and the end of each block: a paragraph, a row, a heading, a fence."""
    start = None
    inside, _ = code(lines)
    last_is_plain = False
    for number, line in enumerate(lines):
        is_plain = line[:1].isalpha()
        if inside[number] or (is_plain and last_is_plain):
            continue  # a line that starts with a letter goes on with the paragraph above
        last_is_plain = is_plain
        if start is not None and may_part(lines[number - 1], line):
            last = number
            while last > start and is_blank(lines[last - 1]):
                last -= 1
            if last > start:
                yield start, last
            start = None
        if start is None and not is_blank(line):
            start = number
    if start is not None:
        last = len(lines)
        while is_blank(lines[last - 1]):
            last -= 1
        yield start, last
