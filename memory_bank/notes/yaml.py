"""Read YAML front matter with offsets, and change keys without changing other characters.

Only PyYAML's C parser is used, not its composer and constructor. They crash the interpreter on
40,000 open brackets, give aliases the offset of their anchor, and convert words to other values
(`yes`, `012`, `12:30`, `1.10`).
"""

from __future__ import annotations

import json
import math
import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from itertools import pairwise
from typing import Any, Literal

import yaml

from memory_bank.base import lazy_pattern
from memory_bank.base.dates import format_iso
from memory_bank.base.documents import Fault
from memory_bank.base.errors import BadInput
from memory_bank.notes.blocks import BlockError, last_break, line_at, line_end, line_start, splice

# Limits of front matter, beyond which it is hostile.
MAX_DEPTH = 100

MAX_VALUES = 20_000

LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # a wheel without C is 8x slower

# Characters that YAML forbids. Checked here so that the fault has a line with either parser; a byte
# order mark at the start would also shift all offsets by one.
_FORBIDDEN = lazy_pattern(
    r"\A\ufeff|[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
)

_SURROGATE = lazy_pattern(r"[\ud800-\udfff]")

_INTEGER = lazy_pattern(r"0|-?[1-9][0-9]{0,17}")

_FLOAT = lazy_pattern(r"-?(?:0|[1-9][0-9]{0,40})(?:\.[0-9]{1,40})?(?:e[+-]?[0-9]{1,3})?")

_WORDS: dict[str, object] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None, "true": True, "false": False,
}  # fmt: skip

_KEEPS = lazy_pattern(r"[^\r\n#]*[|>][0-9]?\+")

_DIRECTIVE = lazy_pattern(r"(?:[ \t]*(?:#[^\r\n]*)?[\r\n])*+%")

_TYPED = {"", *(f"tag:yaml.org,2002:{name}" for name in ("int", "float", "bool", "null"))}

# Of one note that are listed.
_MAX_FAULTS = 20

# `title: [[Note]]` and `created: {{date}}` are an unquoted wikilink and an unquoted placeholder,
# not nested collections.
_BRACKETS = lazy_pattern(r"\[\[[^\[\]{},\r\n]+\]\]|\{\{[^\[\]{},\r\n]+\}\}")


# `globs: **/*.ts` is an unquoted pattern of files, as programs of agents write it, and no alias.
_GLOB = lazy_pattern(r"^((?:[\w-]+:|[ \t]*-)[ \t]+)\*(?=[*./])", re.MULTILINE)

_STAR = "\ue000"
"""What stands for its first character, which the parser would take for that of an alias."""


@dataclass(slots=True)
class YamlNode:
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
    children: list[YamlNode] = field(default_factory=list)
    """A list's items; a map's keys and values, alternating."""
    target: YamlNode | None = None
    """The node that an alias refers to."""


def parse(block: str) -> YamlNode | None:
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


def _tree(block: str) -> YamlNode | None:
    top = YamlNode("list", 0, 0)
    stack = [top]
    count = 0
    anchors: dict[str, YamlNode] = {}
    events: Iterator[Any] = yaml.parse(_GLOB.sub(rf"\1{_STAR}", block), Loader=LOADER)
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
    anchors: dict[str, YamlNode],
) -> YamlNode:
    start, end = event.start_mark.index, event.end_mark.index
    if isinstance(event, yaml.AliasEvent):
        if event.anchor not in anchors:
            raise BlockError(f"alias *{event.anchor} has no anchor", start)
        return YamlNode("alias", start, end, target=anchors[event.anchor])
    tag = event.tag or ""
    if isinstance(event, yaml.ScalarEvent):
        style = event.style or ""
        # Only the parser without C accepts halves of surrogate pairs.
        if not event.value.isascii() and _SURROGATE.search(event.value):
            raise BlockError("half a surrogate pair is no character", start)
        if style in {"|", ">"}:
            end = _block_scalar_end(block, start, end)
        text = event.value
        if text.startswith(_STAR) and block[start] == "*":
            text = f"*{text[1:]}"
        node = YamlNode("scalar", start, end, text, style, tag)
    else:
        kind: Literal["list", "map"] = (
            "list" if isinstance(event, yaml.SequenceStartEvent) else "map"
        )
        node = YamlNode(kind, start, end, tag=tag, flow=bool(event.flow_style))
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


def read_values(root: YamlNode | None, block: str) -> tuple[dict[str, object], list[Fault]]:
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

    def value(self, node: YamlNode, depth: int) -> object:
        self.left -= 1 + len(node.text)
        if node.kind == "scalar":
            return node.text if node.style or node.tag not in _TYPED else parse_plain(node.text)
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

    def mapping(self, node: YamlNode, depth: int) -> dict[str, object]:
        names: dict[str, object] = {}
        pairs = iter(node.children)
        for key, value in zip(pairs, pairs, strict=True):
            name = key.text if key.kind == "scalar" else self.block[key.start : key.end]
            self.left -= len(name)
            if name in names and len(self.faults) < _MAX_FAULTS:
                reason = f"key {name[:60]!r} is given twice, the last counts"
                self.faults.append(Fault(reason, line_at(self.block, key.start)))
            names[name] = self.value(value, depth + 1)
        return names


def parse_plain(text: str) -> object:
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


# A word that any parser of YAML 1.1 or 1.2 reads as something else than text.
_OTHER = lazy_pattern(
    r"~|null|true|false|yes|no|on|off|y|n|<<|="
    r"|[-+]?\.(?:inf|nan)"
    r"|[-+]?0(?:b[01_]+|o[0-7_]+|x[0-9a-f_]+)"
    r"|[-+]?(?:[0-9][0-9_,]*(?:\.[0-9_]*)?|\.[0-9_]+)(?:e[-+]?[0-9]+)?"
    r"|[-+]?[0-9][0-9_]*(?::[0-9]{1,2})+(?:\.[0-9_]*)?"
    r"|[0-9]{4}-[0-9]{1,2}(?:-[0-9]{1,2}(?:[t \t].*)?)?",
    re.IGNORECASE,
)

_MARKS = "-?:,[]{}#&*!|>'\"%@`"

_INSIDE = lazy_pattern(r":(?:\s|\Z)|\s#")

_FLOW_INSIDE = lazy_pattern(r"[,:?\[\]{}]")  # libyaml is more lenient than others

_HIDDEN = r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]"

_UNSEEN, _ESCAPED = lazy_pattern(_HIDDEN), lazy_pattern(rf'[\\"]|{_HIDDEN}')

_ESCAPES = {
    "\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\0",
    "\x85": "\\N", "\u2028": "\\L", "\u2029": "\\P",
}  # fmt: skip

# A larger number is no integer for some readers of JSON.
_INTEGER_LIMIT = 10**18


def write_line(key: str, value: object) -> str:
    """Return `key: value` without a line end."""
    text = render(value)
    return f"{_text(key, flow=False)}: {text}" if text else f"{_text(key, flow=False)}:"


def render(value: object, *, flow: bool = False) -> str:
    """Return a value on one line; `flow` if it is inside brackets. Raises BadInput."""
    if value is None:
        return "null" if flow else ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value, flow=flow)
    if isinstance(value, Mapping):
        pairs = (
            f"{_text(str(key), flow=True)}: {render(item, flow=True)}"
            for key, item in value.items()
        )
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, list | tuple):
        inside = ", ".join(render(item, flow=True) for item in value)
        # `[[a]]` would be read as an unquoted wikilink.
        return f"[ {inside} ]" if inside.startswith("[") else f"[{inside}]"
    return str(reread_value(value))


def reread_value(value: object) -> object:
    """Return the value that reading a written value gives; raise BadInput."""
    if isinstance(value, Mapping):
        return {str(key): reread_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [reread_value(item) for item in value]
    if isinstance(value, datetime):
        return format_iso(value)
    if isinstance(value, date):
        return value.isoformat()
    if not _fits(value):
        raise BadInput(
            f"{str(value)[:60]!a} ({type(value).__name__}) can't be written into front matter",
            "use text, a number of up to 18 digits, true, false, a date, a list or a mapping",
        )
    return value


def _fits(value: object) -> bool:
    if isinstance(value, str):
        return not _SURROGATE.search(value)
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or (isinstance(value, int) and abs(value) < _INTEGER_LIMIT)


def _text(text: str, *, flow: bool) -> str:
    reread_value(text)  # refuses what UTF-8 can't hold
    if (
        text == text.strip()
        and text[:1] not in _MARKS  # the empty text included
        and not _UNSEEN.search(text)
        and not _INSIDE.search(text)
        and not (flow and _FLOW_INSIDE.search(text))
        and not _OTHER.fullmatch(text)
        and parse_plain(text) == text
    ):
        return text
    return f'"{_ESCAPED.sub(_escape, text)}"'


def _escape(match: re.Match[str]) -> str:
    char = match[0]
    code = ord(char)
    return _ESCAPES.get(char) or (f"\\x{code:02X}" if code < 0x100 else f"\\u{code:04X}")  # noqa: PLR2004  (two hex digits)


Edit = tuple[int, int, str]

_BELOW = {"status": "id"}
"""Keys whose place is below another one: a status and other new keys of two branches merge."""

_COLON = lazy_pattern(r"[ \t]*:")

_DASH = lazy_pattern(r"[ \t]*-[ \t]*")

# The rest of a block scalar's first line: indicators, then an optional comment.
_HEADER = lazy_pattern(r"(?:[^\r\n#]*[^\r\n# \t])?([ \t]+#[^\r\n]*)?[ \t]*(?=[\r\n]|\Z)")


def edit(block: str, changes: Mapping[str, object], newline: str) -> str:
    """Return the block with these keys set, or without those set to None; raise BlockError.

    Of duplicate keys, the last one, which counts, is changed, and all are removed. A new key is a
    line at the end, `status` one below `id`. Items of a list that stay keep quotes and comments.
    """
    root = parse(block)
    old, _ = read_values(root, block)
    newline = last_break(block, newline)
    changes = {key: value for key, value in changes.items() if _differs(old, key, value)}
    if root is None:
        return block + _lines(changes, "", newline)
    if root.flow:
        return _edit_flow(block, root, old, changes)
    edits: list[Edit] = []
    new: dict[str, object] = {}
    for key, value in changes.items():
        pairs = [pair for pair in _pairs(root) if pair[0].text == key and pair[0].kind == "scalar"]
        if value is None:
            edits += [_removal(block, *pair) for pair in pairs]
        elif pairs:
            edits += _change(block, pairs[-1], old[key], value)
        else:
            new[key] = value
    indent = _indent(block, root.children[0]) or ""
    for key, above in _BELOW.items():
        pairs = [pair for pair in _pairs(root) if pair[0].text == above]
        if key in new and len(pairs) == 1 and _indent(block, pairs[0][0]) is not None:
            end = line_end(block, pairs[0][1].end)
            edits.append((end, end, _lines({key: new.pop(key)}, indent, newline)))
    return splice(block, edits) + _lines(new, indent, newline)


def _differs(old: Mapping[str, object], key: str, value: object) -> bool:
    if value is None:
        return key in old
    return key not in old or repr(old[key]) != repr(reread_value(value))


def _lines(changes: Mapping[str, object], indent: str, newline: str) -> str:
    return "".join(
        f"{indent}{write_line(key, value)}{newline}"
        for key, value in changes.items()
        if value is not None
    )


def _pairs(node: YamlNode) -> list[tuple[YamlNode, YamlNode]]:
    parts = iter(node.children)
    return list(zip(parts, parts, strict=True))


def _indent(block: str, node: YamlNode) -> str | None:
    """Return the white space before a node; None if there is other text."""
    before = block[line_start(block, node.start) : node.start]
    return None if before.strip(" ") else before


def _removal(block: str, key: YamlNode, value: YamlNode) -> Edit:
    if _indent(block, key) is None:
        raise BlockError(f"key {key.text!r} doesn't start its line", key.start)
    return line_start(block, key.start), line_end(block, value.end), ""


def _change(
    block: str, pair: tuple[YamlNode, YamlNode], old: object, new: object, *, flow: bool = False
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


def _between(block: str, key: YamlNode, value: YamlNode) -> str:
    return block[key.end : value.start].replace("\r", "\n")


def _change_list(
    block: str, node: YamlNode, old: Sequence[object], new: Sequence[object]
) -> Edit | None:
    if node.kind != "list" or len(node.children) != len(old):
        return None
    places: dict[str, deque[int]] = {}
    for index, item in enumerate(old):
        places.setdefault(repr(item), deque()).append(index)
    pieces: list[int | str] = []
    for item in new:
        place = places.get(repr(reread_value(item)))
        pieces.append(place.popleft() if place else render(item, flow=node.flow))
    if node.flow:
        spans = [(child.start, child.end) for child in node.children]
        return node.start, node.end, _flow(block, node, spans, pieces)
    return _block_list(block, node, pieces)


def _flow(
    block: str, node: YamlNode, spans: list[tuple[int, int]], pieces: Sequence[int | str]
) -> str:
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


def _block_list(block: str, node: YamlNode, pieces: Sequence[int | str]) -> Edit | None:
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
    spared = {piece for piece in pieces if isinstance(piece, int)}
    gaps.append("")
    for index in range(len(items)):
        if index not in spared:  # comments above a removed item stay
            gaps[index + 1] = gaps[index] + gaps[index + 1]
    lead = leads[0] if leads[0].endswith((" ", "\t")) else f"{leads[0]} "
    newline = last_break(items[-1], "\n")
    text = "".join(
        gaps[piece] + items[piece] if isinstance(piece, int) else f"{lead}{piece}{newline}"
        for piece in pieces
    )
    return begin, end, text + gaps[-1]


def _edit_flow(
    block: str, root: YamlNode, old: Mapping[str, object], changes: Mapping[str, object]
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
    return json.dumps(reread_value(value), ensure_ascii=False)
