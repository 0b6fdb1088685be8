"""Read a syntax tree: its definitions, by the query of its language, and fingerprints of code.

A fingerprint stays when only the layout, the comments or the place of the code change.

A query is the file `languages/NAME.scm`, in tree-sitter's own language. Each pattern captures the
node of a definition by its kind (`@function`, `@class`, …; see `parsed_file.KINDS`) and its
`@name`. What qualifies names but is no symbol, such as an `impl`, is a `@scope`; a type that is
named before a method is `@of`; what follows the signature is `@body`, by default the node's field
`body`. If several patterns match a name, the first one counts.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from pathlib import Path
from sys import intern
from typing import TYPE_CHECKING

from blake3 import blake3

from memory_bank.base import NamedTuple, lazy_pattern
from memory_bank.code.languages.base import Rules, text_of
from memory_bank.code.parse.parsed_file import KINDS

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Query


SCOPE = "scope"
"""The kind of what qualifies names but is no symbol."""

_KINDS = (*KINDS, SCOPE)

_MOST_MATCHES = 65_536
"""Matches that may be in progress at once, so that a hostile file can't fill the memory."""


class QueryMatch(NamedTuple):
    """A node that a pattern matched."""

    kind: str
    node: Node
    name: Node
    captures: Mapping[str, Sequence[Node]]


class Definition(NamedTuple):
    """A node that defines a name."""

    name: str
    """May have dots: `Type.method` of a method that is defined outside its type."""
    kind: str
    node: Node
    """All of it but decorators."""
    body: Node | None
    """What follows the signature."""
    end: int
    """The byte after the last that it qualifies."""
    name_start: int
    """The first byte of its name."""


def compile_query(rules: Rules, language: Language) -> Query:
    """Compile the query of a language, which may have several files."""
    from tree_sitter import Query

    texts = (Path(module).with_suffix(".scm").read_text("utf-8") for module in rules.symbols)
    return Query(language, "\n".join(texts))


def find_matches(query: Query, root: Node) -> dict[int, list[QueryMatch]]:
    """Map the ids of nodes to what is defined there, in the order of the names."""
    from tree_sitter import QueryCursor

    by_node: dict[int, list[QueryMatch]] = {}
    matched: set[tuple[int, bool]] = set()
    matches = QueryCursor(query, match_limit=_MOST_MATCHES).matches(root)
    for _, captures in sorted(matches, key=lambda match: match[0]):
        kind = next(word for word in _KINDS if word in captures)
        match = QueryMatch(kind, captures[kind][0], captures["name"][0], captures)
        place = match.node.id if kind == SCOPE else match.name.start_byte
        if (place, kind == SCOPE) not in matched:
            matched.add((place, kind == SCOPE))
            by_node.setdefault(match.node.id, []).append(match)
    for same_matches in by_node.values():
        same_matches.sort(key=lambda match: match.name.start_byte)
    return by_node


def find_definition(match: QueryMatch, node: Node, rules: Rules) -> Definition | None:
    """Return what a match defines at a node; None if its name says that it is no definition.

    The node is that of the match, as the object that the walk has: its children are read once.
    """
    kind, captures = match.kind, match.captures
    name = rules.name_of(match.name)
    if not name:
        return None
    if types := captures.get("of"):
        name = f"{text_of(types[0])}.{name}"
    body = captures["body"][0] if "body" in captures else _find_body(node)
    end = _end_of_module(node) if kind == "module" and body is None else node.end_byte
    return Definition(name, kind, _find_declaration(node, rules), body, end, match.name.start_byte)


def _find_body(node: Node) -> Node | None:
    """Return the body of a definition, or of the function that a variable is."""
    for inner in (node, node.child_by_field_name("value"), node.child_by_field_name("right")):
        body = inner.child_by_field_name("body") if inner is not None else None
        if body is not None:
            return body
    return None


def _find_declaration(node: Node, rules: Rules) -> Node:
    """Return the declaration around a definition if it declares nothing else."""
    around = node.parent
    is_alone = around is not None and around.type in rules.alone and around.named_child_count == 1
    return around if is_alone and around is not None else node


def _end_of_module(node: Node) -> int:
    """Return where a namespace without a body ends: before the next one, or with what has it."""
    after = node.next_named_sibling
    while after is not None and after.type != node.type:
        after = after.next_named_sibling
    if after is not None:
        return after.start_byte
    return node.parent.end_byte if node.parent is not None else node.end_byte


# Hex digits: 64 bits don't collide by chance.
DIGITS = 16

OPEN, CLOSE = "\x02", "\x03"
"""Stand for the start and end of a block that only the layout shows."""

_LAYOUT = frozenset([OPEN, CLOSE])

_CLOSING = frozenset(")]}")


class FileTokens:
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


# Of comments above a symbol that are its doc text.
_MOST_LINES = 200

_OPENS = lazy_pattern(r"^\s*(?:/\*[*!]?|//[/!]?|#+!?|--+|<!--)[ \t]?")

_STAR = lazy_pattern(r"^\s*\*(?!/)[ \t]?")

_TAG = lazy_pattern(
    r"</?(?:summary|remarks|para|param|typeparam|returns|value|exception|example|c|code|see|seealso"
    r"|paramref|typeparamref|inheritdoc|p|pre)\b[^<>]*>"
)

_NAMED = lazy_pattern(r'<(?:see|seealso|paramref|typeparamref) \w+="(?:\w:)?([^"]*)" ?/>')

_PARAMETER = lazy_pattern(r'<(?:param|typeparam) name="([^"]*)">')

_LIMITS = lazy_pattern(r"^=(?:begin|end)\b.*$", re.MULTILINE)


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
        comment = self._by_end.get(row)
        if comment and comment.is_mark and not self._data[comment.end : start].strip():
            row, start = comment.row, comment.start
        if self._data[self._data.rfind(b"\n", 0, start) + 1 : start].strip():
            return row, start, ""  # they belong to the code before it
        while len(texts) < _MOST_LINES and (above := self._by_end.get(row - 1)):
            if above.text.startswith("#!"):
                break
            texts.append(above.text)
            row, start = above.row, above.start
        return row, start, strip_comment("\n".join(reversed(texts)))

    def at_top(self) -> str:
        """Return the text of the comments that the file begins with."""
        texts, row = list[str](), 0
        for last, comment in self._by_end.items():
            if comment.row != row or len(texts) == _MOST_LINES:
                break
            texts.append("" if comment.text.startswith("#!") else comment.text)
            row = last + 1
        return strip_comment("\n".join(texts).strip())


def strip_comment(text: str) -> str:
    """Return a comment without its signs."""
    lines = list[str]()
    text = _PARAMETER.sub(r"\1: ", _NAMED.sub(r"\1", _LIMITS.sub("", text)))
    for line in _strip_closing(text).split("\n"):
        bare = _OPENS.sub("", line) if _OPENS.match(line) else _STAR.sub("", line)
        lines.append(_strip_closing(_TAG.sub("", bare)).rstrip())
    return "\n".join(lines).strip()


def _strip_closing(text: str) -> str:
    """Return a text without the signs that close a comment; without a pattern, to be linear."""
    bare = text.rstrip()
    return bare[:-1].rstrip("*").rstrip() if bare.endswith("*/") else text
