"""Parse YAML front matter into a tree with offsets, and convert it to values.

Only PyYAML's C parser is used, not its composer and constructor. They crash the interpreter on
40,000 open brackets, give aliases the offset of their anchor, and convert words to other values
(`yes`, `012`, `12:30`, `1.10`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import yaml

from memory_bank.notes.block_positions import BlockError, line_of
from memory_bank.notes.note import Fault

MAX_DEPTH = 100
MAX_VALUES = 20_000
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # a wheel without C is 8x slower

# Characters that YAML forbids. Checked here so that the fault has a line with either parser; a byte
# order mark at the start would also shift all offsets by one.
_FORBIDDEN = re.compile(
    r"\A\ufeff|[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
)
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}")
_FLOAT = re.compile(r"-?(?:0|[1-9][0-9]{0,40})(?:\.[0-9]{1,40})?(?:e[+-]?[0-9]{1,3})?")
_WORDS: dict[str, object] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None, "true": True, "false": False,
}  # fmt: skip
_KEEPS = re.compile(r"[^\r\n#]*[|>][0-9]?\+")
_DIRECTIVE = re.compile(r"(?:[ \t]*(?:#[^\r\n]*)?[\r\n])*+%")
_TYPED = {"", *(f"tag:yaml.org,2002:{name}" for name in ("int", "float", "bool", "null"))}
_MAX_FAULTS = 20
# `title: [[Note]]` and `created: {{date}}` are an unquoted wikilink and an unquoted placeholder,
# not nested collections.
_BRACKETS = re.compile(r"\[\[[^\[\]{},\r\n]+\]\]|\{\{[^\[\]{},\r\n]+\}\}")


@dataclass(slots=True)
class Node:
    """A value with its offsets, from its tag or anchor to its last character."""

    kind: Literal["scalar", "alias", "list", "map"]
    start: int
    end: int
    text: str = ""
    """A scalar's text, quotes and escapes resolved."""
    style: str = ""
    """A scalar's quote or block indicator; empty if plain."""
    tag: str = ""
    """The explicit tag, or empty."""
    flow: bool = False
    children: list[Node] = field(default_factory=list)
    """A list's items; a map's keys and values, alternating."""
    target: Node | None = None
    """The node that an alias refers to."""


def parse(block: str) -> Node | None:
    """Return the tree of a block; None if it has no value. Raises BlockError."""
    if bad := _FORBIDDEN.search(block):
        reason = f"character U+{ord(bad[0]):04X} is not allowed in YAML"
        raise BlockError(reason, bad.start())
    if _DIRECTIVE.match(block):
        raise BlockError("a directive (%) has no place in front matter")
    try:
        return _tree(block)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        reason = ", ".join(part for part in (error.context, error.problem) if part)
        # If something was not closed, the error is at the end of the block.
        index = min(mark.index, len(block.rstrip())) if mark else 0
        raise BlockError(reason, index) from error
    except yaml.YAMLError as error:
        raise BlockError(str(error)) from error


def _tree(block: str) -> Node | None:
    top = Node("list", 0, 0)
    stack = [top]
    count = 0
    anchors: dict[str, Node] = {}
    events: Iterator[Any] = yaml.parse(block, Loader=_LOADER)
    for event in events:
        if isinstance(event, yaml.NodeEvent):
            count += 1
            if count > MAX_VALUES:
                raise BlockError(f"more than {MAX_VALUES:,} keys and values", stack[-1].start)
            node = _node(event, block, anchors)
            stack[-1].children.append(node)
            if isinstance(event, yaml.CollectionStartEvent):
                stack.append(node)
                if len(stack) > MAX_DEPTH:
                    raise BlockError(f"nested deeper than {MAX_DEPTH} levels", node.start)
        elif isinstance(event, yaml.CollectionEndEvent):
            node = stack.pop()
            node.end = _end_of(event) if node.flow else node.children[-1].end
    if len(top.children) > 1:
        raise BlockError("a second YAML document starts", top.children[1].start)
    return top.children[0] if top.children else None


def _node(
    event: Any,  # noqa: ANN401  (in the stubs its places may be None)
    block: str,
    anchors: dict[str, Node],
) -> Node:
    start, end = event.start_mark.index, event.end_mark.index
    if isinstance(event, yaml.AliasEvent):
        if event.anchor not in anchors:
            raise BlockError(f"alias *{event.anchor} has no anchor", start)
        return Node("alias", start, end, target=anchors[event.anchor])
    tag = event.tag or ""
    if isinstance(event, yaml.ScalarEvent):
        style = event.style or ""
        # Only the parser without C accepts halves of surrogate pairs.
        if not event.value.isascii() and _SURROGATE.search(event.value):
            raise BlockError("half a surrogate pair is no character", start)
        if style in {"|", ">"}:
            end = _block_scalar_end(block, start, end)
        node = Node("scalar", start, end, event.value, style, tag)
    else:
        kind: Literal["list", "map"] = (
            "list" if isinstance(event, yaml.SequenceStartEvent) else "map"
        )
        node = Node(kind, start, end, tag=tag, flow=bool(event.flow_style))
    if event.anchor:
        anchors[event.anchor] = node
    return node


def _end_of(event: Any) -> int:  # noqa: ANN401  (in the stubs its places may be None)
    return int(event.end_mark.index)


def _block_scalar_end(block: str, start: int, end: int) -> int:
    """Return the end of a block scalar without blank lines after it, unless `+` keeps them."""
    text = block[start:end]
    if _KEEPS.match(text):
        return end - (2 if text.endswith("\r\n") else text.endswith(("\n", "\r")))
    bare = text.rstrip(" \t\r\n")
    blank = text[len(bare) :]
    # White space after the last word of a line belongs to the scalar.
    return start + len(bare) + len(blank) - len(blank.lstrip(" \t"))


def values(root: Node | None, block: str) -> tuple[dict[str, object], list[Fault]]:
    """Return the values of a tree, keys as written; raise BlockError if it is not a mapping.

    A plain word becomes a number, true, false or null only if that prints the same; others stay
    text: `yes`, `012`, `12:30`, `1.10`, dates. So nothing is lost, and all values are valid in
    JSON. Of duplicate keys, the last one counts.
    """
    if root is None:
        return {}, []
    if root.kind != "map":
        raise BlockError("not a mapping of keys to values", root.start)
    reader = _ValueReader(block)
    return reader.mapping(root, 0), reader.faults


class _ValueReader:
    """Converts nodes to values; limited, since aliases can expand beyond the memory."""

    def __init__(self, block: str) -> None:
        self.block = block
        self.faults: list[Fault] = []
        # Number of values and characters; only aliases can reach the limit.
        self.left = 1000 + 2 * len(block)

    def value(self, node: Node, depth: int) -> object:
        self.left -= 1 + len(node.text)
        if node.kind == "scalar":
            return _scalar(node)
        if self.left < 0 or depth > MAX_DEPTH:
            raise BlockError("aliases stand for too many values", node.start)
        if node.target is not None:
            return self.value(node.target, depth + 1)
        if node.flow and _BRACKETS.fullmatch(self.block, node.start, node.end):
            self.left -= node.end - node.start
            return self.block[node.start : node.end]
        if node.kind == "list":
            return [self.value(child, depth + 1) for child in node.children]
        return self.mapping(node, depth)

    def mapping(self, node: Node, depth: int) -> dict[str, object]:
        found: dict[str, object] = {}
        pairs = iter(node.children)
        for key, value in zip(pairs, pairs, strict=True):
            name = key.text if key.kind == "scalar" else self.block[key.start : key.end]
            self.left -= len(name)
            if name in found and len(self.faults) < _MAX_FAULTS:
                reason = f"key {name[:60]!r} is given twice, the last counts"
                self.faults.append(Fault(reason, line_of(self.block, key.start)))
            found[name] = self.value(value, depth + 1)
        return found


def _scalar(node: Node) -> object:
    return node.text if node.style or node.tag not in _TYPED else plain(node.text)


def plain(text: str) -> object:
    """Return the value of an unquoted word."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in "-0123456789":
        return text
    if _INTEGER.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text) and repr(number := float(text)) == text:
        return number
    return text
