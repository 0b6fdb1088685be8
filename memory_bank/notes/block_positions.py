"""Offsets and lines in a front matter block, and its errors."""

from __future__ import annotations

import re

_STEP = 200
BREAK = re.compile(r"\r\n|\n|\r")


class BlockError(Exception):
    """A block can't be read or edited: the reason, and the offset in the block."""

    def __init__(self, reason: str, index: int = 0) -> None:
        """Keep the reason and the offset."""
        super().__init__(reason)
        self.reason = reason
        self.index = index


def line_of(block: str, index: int) -> int:
    """Return the file's 1-based line of an offset in a block; the block starts on line 2."""
    return 2 + len(BREAK.findall(block, 0, index))


def line_start(text: str, index: int) -> int:
    """Return where the line that holds `index` starts."""
    while index and text[index - 1] not in "\r\n":
        # In steps: otherwise a search for \r in a text without any would scan all of it.
        step = max(0, index - _STEP)
        found = max(text.rfind("\n", step, index), text.rfind("\r", step, index))
        index = step if found < 0 else found + 1
    return index


def line_end(text: str, index: int) -> int:
    """Return where the next line starts."""
    found = BREAK.search(text, index)
    return found.end() if found else len(text)


def last_break(text: str, default: str) -> str:
    """Return the line end that the text ends with."""
    if text.endswith("\r\n"):
        return "\r\n"
    return text[-1] if text.endswith(("\n", "\r")) else default


def splice(text: str, edits: list[tuple[int, int, str]]) -> str:
    """Replace pieces of a text; raise BlockError when two of them overlap.

    Insertions at the same offset keep their order.
    """
    parts: list[str] = []
    at = 0
    for start, end, new in sorted(edits, key=lambda edit: edit[:2]):
        if start < at:
            raise BlockError("two changes overlap", start)
        parts += text[at:start], new
        at = end
    return "".join(parts) + text[at:]
