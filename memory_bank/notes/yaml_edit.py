"""Change some keys of a YAML block without changing other characters."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Mapping, Sequence
from itertools import pairwise

from memory_bank.notes.block_positions import BlockError, last_break, line_end, line_start, splice
from memory_bank.notes.yaml_tree import Node, parse, values
from memory_bank.notes.yaml_write import expected, line, render

Edit = tuple[int, int, str]
_BELOW = {"status": "id"}
"""Keys whose place is below another one: a status and other new keys of two branches merge."""
_COLON = re.compile(r"[ \t]*:")
_DASH = re.compile(r"[ \t]*-[ \t]*")
# The rest of a block scalar's first line: indicators, then an optional comment.
_HEADER = re.compile(r"[^\r\n#]*?([ \t]+#[^\r\n]*)?(?=[\r\n]|\Z)")


def edit(block: str, changes: Mapping[str, object], newline: str) -> str:
    """Return the block with these keys set, or without those set to None; raise BlockError.

    Of duplicate keys, the last one, which counts, is changed, and all are removed. A new key is a
    line at the end, `status` one below `id`. Items of a list that stay keep quotes and comments.
    """
    root = parse(block)
    old, _ = values(root, block)
    newline = last_break(block, newline)
    changes = {key: value for key, value in changes.items() if _differs(old, key, value)}
    if root is None:
        return block + _lines(changes, "", newline)
    if root.flow:
        return _edit_flow(block, root, old, changes)
    edits: list[Edit] = []
    new: dict[str, object] = {}
    for key, value in changes.items():
        found = [pair for pair in _pairs(root) if pair[0].text == key and pair[0].kind == "scalar"]
        if value is None:
            edits += [_removal(block, *pair) for pair in found]
        elif found:
            edits += _change(block, found[-1], old[key], value)
        else:
            new[key] = value
    indent = _indent(block, root.children[0]) or ""
    for key, above in _BELOW.items():
        found = [pair for pair in _pairs(root) if pair[0].text == above]
        if key in new and len(found) == 1 and _indent(block, found[0][0]) is not None:
            end = line_end(block, found[0][1].end)
            edits.append((end, end, _lines({key: new.pop(key)}, indent, newline)))
    return splice(block, edits) + _lines(new, indent, newline)


def _differs(old: Mapping[str, object], key: str, value: object) -> bool:
    if value is None:
        return key in old
    return key not in old or repr(old[key]) != repr(expected(value))


def _lines(changes: Mapping[str, object], indent: str, newline: str) -> str:
    return "".join(
        f"{indent}{line(key, value)}{newline}"
        for key, value in changes.items()
        if value is not None
    )


def _pairs(node: Node) -> list[tuple[Node, Node]]:
    parts = iter(node.children)
    return list(zip(parts, parts, strict=True))


def _indent(block: str, node: Node) -> str | None:
    """Return the white space before a node; None if there is other text."""
    before = block[line_start(block, node.start) : node.start]
    return None if before.strip(" ") else before


def _removal(block: str, key: Node, value: Node) -> Edit:
    if _indent(block, key) is None:
        raise BlockError(f"key {key.text!r} doesn't start its line", key.start)
    return line_start(block, key.start), line_end(block, value.end), ""


def _change(
    block: str, pair: tuple[Node, Node], old: object, new: object, *, flow: bool = False
) -> list[Edit]:
    """Return the edits that change the value of a key, in the style of the old value."""
    key, value = pair
    if isinstance(new, list | tuple) and new and isinstance(old, list):
        change = _change_list(block, value, old, new)
        if change:
            return [change]
    text = render(new, flow=flow)
    if value.kind in {"list", "map"} and not value.flow and "\n" in _between(block, key, value):
        colon = _COLON.match(block, key.end)
        if not colon:
            raise BlockError(f"key {key.text!r} has no colon on its line", key.start)
        lines = line_start(block, value.start), line_end(block, value.end), ""
        return [(colon.end(), colon.end(), f" {text}"), lines]
    if value.style in {"|", ">"}:
        header = _HEADER.match(block, value.start)
        text += (header[1] or "") if header else ""
    space = " " if block[value.start - 1] == ":" else ""
    return [(value.start, value.end, space + text)]


def _between(block: str, key: Node, value: Node) -> str:
    return block[key.end : value.start].replace("\r", "\n")


def _change_list(
    block: str, node: Node, old: Sequence[object], new: Sequence[object]
) -> Edit | None:
    if node.kind != "list" or len(node.children) != len(old):
        return None
    places: dict[str, deque[int]] = {}
    for index, item in enumerate(old):
        places.setdefault(repr(item), deque()).append(index)
    pieces: list[int | str] = []
    for item in new:
        same = places.get(repr(expected(item)))
        pieces.append(same.popleft() if same else render(item, flow=node.flow))
    if node.flow:
        spans = [(child.start, child.end) for child in node.children]
        return node.start, node.end, _flow(block, node, spans, pieces)
    return _block_list(block, node, pieces)


def _flow(block: str, node: Node, spans: list[tuple[int, int]], pieces: Sequence[int | str]) -> str:
    """Rewrite a flow collection: old items by their index, new ones as text."""
    opening = 1 + min(at for mark in "[{" if (at := block.find(mark, node.start)) >= 0)
    if not spans:
        spans = [(opening, opening)]
    gaps = [block[end:start] for (_, end), (start, _) in pairwise(spans)]
    usual = next((gap for gap in gaps if gap.strip() == ","), ", ")
    parts = [block[node.start : spans[0][0]]]
    for number, piece in enumerate(pieces):
        parts.append(block[slice(*spans[piece])] if isinstance(piece, int) else piece)
        if number < len(pieces) - 1:
            parts.append(gaps[piece] if isinstance(piece, int) and piece < len(gaps) else usual)
    return "".join((*parts, block[spans[-1][1] : node.end]))


def _block_list(block: str, node: Node, pieces: Sequence[int | str]) -> Edit | None:
    """Rewrite a block sequence; None if its lines have other text."""
    begin = end = line_start(block, node.children[0].start)
    leads: list[str] = []
    gaps: list[str] = []
    items: list[str] = []
    for child in node.children:
        start = line_start(block, child.start)
        lead = block[start : child.start]
        if start < end or not _DASH.fullmatch(lead):
            return None
        gaps.append(block[end:start])
        leads.append(lead)
        end = line_end(block, child.end)
        items.append(block[start:end])
    kept = {piece for piece in pieces if isinstance(piece, int)}
    gaps.append("")
    for index in range(len(items)):
        if index not in kept:  # comments above a removed item stay
            gaps[index + 1] = gaps[index] + gaps[index + 1]
    lead = leads[0] if leads[0].endswith((" ", "\t")) else f"{leads[0]} "
    newline = last_break(items[-1], "\n")
    text = "".join(
        gaps[piece] + items[piece] if isinstance(piece, int) else f"{lead}{piece}{newline}"
        for piece in pieces
    )
    return begin, end, text + gaps[-1]


def _edit_flow(
    block: str, root: Node, old: Mapping[str, object], changes: Mapping[str, object]
) -> str:
    """Edit a block that is one flow mapping; if it looks like JSON, it stays JSON."""
    pairs = _pairs(root)
    last = {key.text: index for index, (key, _) in enumerate(pairs)}
    json_like = block[root.start + 1 :].lstrip().startswith('"')
    pieces: list[int | str] = []
    for index, (key, value) in enumerate(pairs):
        new = changes.get(key.text)
        if key.text not in changes or (new is not None and last[key.text] != index):
            pieces.append(index)
        elif new is not None:
            edits = _change(block, (key, value), old[key.text], new, flow=True)
            text = splice(block[: value.end], edits)[value.start :].strip()
            text = _json(new) if json_like else text
            pieces.append(f"{block[key.start : key.end]}: {text}")
    for name, new in changes.items():
        if name not in last and new is not None:
            pair = {name: new}
            pieces.append((_json(pair) if json_like else render(pair, flow=True))[1:-1])
    spans = [(key.start, max(key.end, value.end)) for key, value in pairs]
    return block[: root.start] + _flow(block, root, spans, pieces) + block[root.end :]


def _json(value: object) -> str:
    return json.dumps(expected(value), ensure_ascii=False)
