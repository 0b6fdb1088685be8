"""The keys of YAML front matter with the lines that they are written in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from memory_bank.notes import yaml_tree
from memory_bank.notes.block_positions import BlockError, line_end, line_start
from memory_bank.notes.yaml_tree import Node

_COMMENT = re.compile(r"(?:^|[ \t])(#[^\r\n]*)", re.MULTILINE)


class KeyLines(NamedTuple):
    """One key: its lines and what is above it."""

    above: str
    """The comments and blank lines above."""
    text: str
    """The lines of the key and its value."""
    value: object


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of a block in their order; all their texts, joined, are the block."""

    of: Mapping[str, KeyLines] = field(default_factory=dict)
    below: str = ""
    """What is below the last key."""


def read(block: str) -> Keys:
    """Return the keys of a block; raise BlockError if they are not one below the other."""
    root = yaml_tree.parse(block)
    values, faults = yaml_tree.values(root, block)
    if faults:
        raise BlockError(faults[0].reason)
    if root is None:
        return Keys(below=block)
    if root.flow or any(node.kind == "alias" for node in _nodes(root)):
        raise BlockError("not one key below the other", root.start)
    found: dict[str, KeyLines] = {}
    at = 0
    parts = iter(root.children)
    for key, value in zip(parts, parts, strict=True):
        start, end = line_start(block, key.start), line_end(block, max(key.end, value.end))
        if key.kind != "scalar" or start < at or block[start : key.start].strip():
            raise BlockError("not one key below the other", key.start)
        found[key.text] = KeyLines(block[at:start], block[start:end], values[key.text])
        at = end
    return Keys(found, block[at:])


def _nodes(root: Node) -> Iterator[Node]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += node.children


def comments(text: str) -> set[str]:
    """Return what may be comments in the lines of a key."""
    return {found.strip() for found in _COMMENT.findall(text)}
