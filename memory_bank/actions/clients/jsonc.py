"""Put a value into a JSON file, or take it out; every other character of the file stays.

Editors keep their settings as JSON with comments and trailing commas. The packages that change
such a text and keep the rest of it run a JavaScript engine, or read JSON5, which no client does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from memory_bank.actions.clients.jsontree import Node, line_comments, read
from memory_bank.errors import BadInput
from memory_bank.notes.places import BREAK, line_start, splice

Path = tuple[str, ...]
"""Keys, from the outermost object inwards."""

_SPACE = " \t\r\n"
_BESIDE = re.compile(r"(?:[ \t]*(?:/\*(?:[^*\r\n]|\*(?!/))*\*/|//[^\r\n]*))*")
"""Comments behind something on its line."""
_UNIT = "  "


def value_at(text: str, path: Path) -> object:
    """Return what stands at a path, None when nothing does; raise BadInput."""
    way = _way(text, path)
    return way[-1].value if len(way) > len(path) else None


def put(text: str, path: Path, value: Mapping[str, object]) -> str:
    """Return the text with an object at a path; keys that the object there has besides stay.

    Raises BadInput when the text can't be read, or when something on the way is no object.
    """
    way = _way(text, path)
    if not way:
        return _begun(text, _nested(path, value))
    if way[-1].members is None:
        where = ".".join(path[: len(way) - 1])
        raise BadInput(f"{where or 'what it holds'} is no object with keys")
    if len(way) <= len(path):
        key, *inner = path[len(way) - 1 :]
        return _inserted(text, way[0], way[-1], key, _nested(tuple(inner), value))
    for key, wanted in value.items():
        text = _with_key(text, path, key, wanted)
    return text


def cut(text: str, path: Path) -> str:
    """Return the text without what is at a path, nor the objects around it that `put` made.

    Raises BadInput when the text can't be read, or when a key is there twice.
    """
    way = _way(text, path)
    if len(way) <= len(path):
        return text
    if not path:
        return _ended(text, way[0])
    if _made_here(text, way[-2]):
        return cut(text, path[:-1])
    new = _without(text, way[-2], path[-1])
    if value_at(new, path) is not None:
        raise BadInput(f"{path[-1]!r} is there twice")
    return new


def _way(text: str, path: Path) -> list[Node]:
    """Return the outermost value and those inside it along a path, as far as there are any."""
    node = read(text)
    found = [node] if node else []
    for key in path:
        member = node.find(key) if node else None
        node = member.node if member else None
        if node is None:
            break
        found.append(node)
    return found


def _begun(text: str, value: object) -> str:
    """Return a text that says nothing yet with a value at its end.

    It ends with a line end where the text did, by which `_ended` knows what was there.
    """
    newline, shown = _newline(text), _written(value, "", _newline(text))
    if text.endswith(("\n", "\r")):
        return f"{text}{shown}{newline}"
    return f"{text}{newline}{shown}" if text else shown


def _ended(text: str, root: Node) -> str:
    """Return a text without its value."""
    before, after = text[: root.start], text[root.end :]
    if found := BREAK.match(after):
        return before + after[found.end() :]
    return before.removesuffix(_newline(text)) + after


def _made_here(text: str, holder: Node) -> bool:
    """Tell whether an object has one member and looks as `put` writes one: on lines, or on one.

    One that was there and empty looks otherwise once something is put into it: see `_inserted`.
    """
    members = holder.members or []
    if len(members) != 1:
        return False
    before = text[holder.start + 1 : members[0].start]
    after = text[members[0].node.end : holder.end - 1]
    on_lines = all(part.isspace() and BREAK.search(part) for part in (before, after))
    return on_lines or not before + after


def _with_key(text: str, path: Path, key: str, value: object) -> str:
    """Return the text with one key of the object at a path set."""
    root, *_, holder = _way(text, path)
    member = holder.find(key)
    if member is None:
        return _inserted(text, root, holder, key, value)
    if member.node.value == value:
        return text
    shown = _written(value, _margin(text, member.start), _newline(text), _unit(text, root))
    return splice(text, [(member.node.start, member.node.end, shown)])


def _inserted(text: str, root: Node, holder: Node, key: str, value: object) -> str:
    """Return the text with one more member at the end of an object."""
    if holder.members:
        return _appended(text, root, holder, key, value)
    newline, unit = _newline(text), _unit(text, root)
    beside = _BESIDE.match(text, holder.start + 1)
    behind = beside.end() if beside else holder.start + 1
    commented = "//" in text[holder.start : behind]
    spread = BREAK.search(text, holder.start, holder.end) is not None
    # A line end on one side only: so `cut` can tell it from an object that `put` made.
    margin = _margin(text, holder.start) + unit
    gap = newline + margin if commented or not spread else ""
    member = f"{gap}{_key(key)}{_written(value, margin, newline, unit)}"
    return splice(text, [(behind, behind, member)])


def _appended(text: str, root: Node, holder: Node, key: str, value: object) -> str:
    """Return the text with a member behind the last one, in the manner of those there."""
    members = holder.members or []
    first, last = members[0], members[-1]
    newline, margin = _newline(text), _margin(text, last.start)
    end = last.node.end if last.comma is None else last.comma + 1
    beside = _BESIDE.match(text, end)
    behind = beside.end() if beside else end
    if BREAK.search(text, holder.start, first.start) or "//" in text[end:behind]:
        gap, shown = newline + margin, _written(value, margin, newline, _unit(text, root))
    else:
        gap, shown = " ", json.dumps(value, ensure_ascii=False)
    comma, trailing = (",", "") if last.comma is None else ("", ",")
    edits = [
        (last.node.end, last.node.end, comma),
        (behind, behind, f"{gap}{_key(key)}{shown}{trailing}"),
    ]
    return splice(text, edits)


def _without(text: str, holder: Node, key: str) -> str:
    """Return the text without one member, the space before it and the comma that goes with it."""
    members = holder.members or []
    number = max(n for n, member in enumerate(members) if member.key == key)
    member = members[number]
    start, end, comma = len(text[: member.start].rstrip(_SPACE)), member.node.end, member.comma
    if start in line_comments(text) and not BREAK.match(text, end + (comma == end)):
        start = member.start  # what follows must not become a part of the comment
    if comma is None and number:
        comma = members[number - 1].comma
    commas = [] if comma is None else [(comma, comma + 1, "")]
    return splice(text, [(start, end, ""), *commas])


def _written(value: object, margin: str, newline: str, unit: str = _UNIT) -> str:
    """Return a value as JSON: an object's keys on lines of their own, a list on one."""
    if not isinstance(value, Mapping) or not value:
        return json.dumps(value, ensure_ascii=False)
    inner = margin + unit
    lines = [
        f"{inner}{_key(key)}{_written(item, inner, newline, unit)}" for key, item in value.items()
    ]
    return f"{{{newline}{f',{newline}'.join(lines)}{newline}{margin}}}"


def _key(key: str) -> str:
    return f"{json.dumps(key, ensure_ascii=False)}: "


def _nested(path: Path, value: object) -> object:
    for key in reversed(path):
        value = {key: value}
    return value


def _newline(text: str) -> str:
    found = BREAK.search(text)
    return found[0] if found else "\n"


def _margin(text: str, at: int) -> str:
    """Return the space that the line of a place starts with."""
    line = text[line_start(text, at) : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _unit(text: str, root: Node) -> str:
    """Return by how much the outermost object indents its keys."""
    if not root.members or not BREAK.search(text, root.start, root.members[0].start):
        return _UNIT
    return _margin(text, root.members[0].start) or _UNIT
