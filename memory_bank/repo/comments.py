"""The comments of a source file, of which those above a definition are its doc text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from memory_bank.repo.languages.base import text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_MOST_LINES = 200
_OPENS = re.compile(r"^\s*(?:/\*[*!]?|//[/!]?|#+!?|--+|<!--)[ \t]?")
_STAR = re.compile(r"^\s*\*(?!/)[ \t]?")
_TAG = re.compile(
    r"</?(?:summary|remarks|para|param|typeparam|returns|value|exception|example|c|code|see|seealso"
    r"|paramref|typeparamref|inheritdoc|p|pre)\b[^<>]*>"
)
_NAMED = re.compile(r'<(?:see|seealso|paramref|typeparamref) \w+="(?:\w:)?([^"]*)" ?/>')
_PARAMETER = re.compile(r'<(?:param|typeparam) name="([^"]*)">')
_LIMITS = re.compile(r"^=(?:begin|end)\b.*$", re.MULTILINE)


class _Comment(NamedTuple):
    row: int
    start: int
    """Its first byte."""
    end: int
    text: str
    is_mark: bool


class Comments:
    """The comments that stand on lines of their own, in order."""

    def __init__(self, data: bytes) -> None:
        """Read no comment yet of a file's bytes."""
        self._data = data
        self._by_end: dict[int, _Comment] = {}

    def add(self, node: Node, *, is_mark: bool = False) -> None:
        """Add a comment, or a mark such as an attribute, which has no text."""
        start = node.start_byte
        before = self._data[self._data.rfind(b"\n", 0, start) + 1 : start]
        if before.strip():
            return  # it belongs to the code before it
        row, column = node.end_point
        last = row - 1 if column == 0 and row > node.start_point[0] else row
        text = "" if is_mark else text_of(node).rstrip("\n")
        self._by_end[last] = _Comment(node.start_point[0], start, node.end_byte, text, is_mark)

    def above(self, row: int, start: int) -> tuple[int, int, str]:
        """Return where the comments directly above a definition begin, and their text.

        Row and byte, of the definition itself without comments.
        """
        texts = list[str]()
        same = self._by_end.get(row)
        if same and same.is_mark and not self._data[same.end : start].strip():
            row, start = same.row, same.start
        if self._data[self._data.rfind(b"\n", 0, start) + 1 : start].strip():
            return row, start, ""  # they belong to the code before it
        while len(texts) < _MOST_LINES and (found := self._by_end.get(row - 1)):
            if found.text.startswith("#!"):
                break
            texts.append(found.text)
            row, start = found.row, found.start
        return row, start, plain("\n".join(reversed(texts)))

    def at_top(self) -> str:
        """Return the text of the comments that the file begins with."""
        texts, row = list[str](), 0
        for last, one in self._by_end.items():
            if one.row != row or len(texts) == _MOST_LINES:
                break
            texts.append("" if one.text.startswith("#!") else one.text)
            row = last + 1
        return plain("\n".join(texts).strip())


def plain(text: str) -> str:
    """Return a comment without its signs."""
    lines = list[str]()
    text = _PARAMETER.sub(r"\1: ", _NAMED.sub(r"\1", _LIMITS.sub("", text)))
    for line in _unclosed(text).split("\n"):
        bare = _OPENS.sub("", line) if _OPENS.match(line) else _STAR.sub("", line)
        lines.append(_unclosed(_TAG.sub("", bare)).rstrip())
    return "\n".join(lines).strip()


def _unclosed(text: str) -> str:
    """Return a text without the signs that close a comment; without a pattern, to be linear."""
    bare = text.rstrip()
    return bare[:-1].rstrip("*").rstrip() if bare.endswith("*/") else text
