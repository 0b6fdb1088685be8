"""Put a table into a TOML file, or take it out; every other character of the file stays.

The parser keeps no places. So each change is tried, and made only when the parser then reads what
is wanted and nothing else has changed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from memory_bank import toml
from memory_bank.errors import BadInput
from memory_bank.notes import toml_edit
from memory_bank.notes.places import BREAK, BlockError

Path = tuple[str, ...]

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_TABLE = re.compile(r"^[ \t]*\[", re.MULTILINE)
_MAX_LINES = 500
"""Of one table: each line costs a parse of the file."""


def value_at(text: str, path: Path) -> object:
    """Return what stands at a path, None when nothing does; raise BadInput."""
    found: object = _parsed(text)
    for key in path:
        found = found.get(key) if isinstance(found, dict) else None
    return found


def put(text: str, path: Path, value: Mapping[str, object]) -> str:
    """Return the text with a table at a path; keys that the table there has besides stay.

    Raises BadInput when the text can't be read, or has the table in a form that can't be changed.
    """
    old = value_at(text, path)
    wanted = {**old, **value} if isinstance(old, dict) else dict(value)
    if old == wanted:
        return text
    candidates = _appended if old is None else _filled
    for candidate in candidates(text, path, value):
        if _reads(candidate, text, path, wanted):
            return candidate
    raise _by_hand(path)


def cut(text: str, path: Path) -> str:
    """Return the text without a table, its own tables and the blank line before it.

    Raises BadInput when the text can't be read, or has the table in a form that can't be changed.
    """
    if value_at(text, path) is None:
        return text
    for candidate in _shortened(text, path):
        if _reads(candidate, text, path, None):
            return candidate
    raise _by_hand(path)


def _appended(text: str, path: Path, value: Mapping[str, object]) -> Iterator[str]:
    """Yield the text with a new table at its end.

    It ends with a line end where the text did, by which `_shortened` knows what was there.
    """
    newline = _newline(text)
    lines = [f"[{'.'.join(map(_key, path))}]"]
    lines += [f"{_key(key)} = {toml_edit.render(item)}" for key, item in value.items()]
    table = newline.join(lines)
    if not text:
        yield table
    elif text.endswith("\n"):
        yield f"{text}{newline}{table}{newline}"
    else:
        yield f"{text}{newline}{newline}{table}"


def _filled(text: str, path: Path, value: Mapping[str, object]) -> Iterator[str]:
    """Yield the text with other values in a table that is there."""
    for head in _heads(text, path):
        following = _TABLE.search(text, head.end())
        end = following.start() if following else len(text)
        try:
            block = toml_edit.edit(text[head.end() : end], value, _newline(text))
        except BlockError:
            continue
        yield text[: head.end()] + block + text[end:]


def _shortened(text: str, path: Path) -> Iterator[str]:
    """Yield the text without a table, which ends behind one of its lines."""
    newline = _newline(text)
    for head in _heads(text, path):
        before = text[: head.start()]
        for end in _line_ends(text, head.end()):
            unended = end == len(text) and not text.endswith("\n")
            blank = newline if before.endswith(newline * 2) else ""
            yield before.removesuffix(blank + newline if unended else blank) + text[end:]


def _heads(text: str, path: Path) -> Iterator[re.Match[str]]:
    """Yield the lines that may open a table, line ends included."""
    keys = (rf"(?:\"{re.escape(key)}\"|'{re.escape(key)}'|{re.escape(key)})" for key in path)
    name = r"[ \t]*\.[ \t]*".join(keys)
    head = rf"^[ \t]*\[[ \t]*{name}[ \t]*\][ \t]*(?:#[^\r\n]*)?(?:\r?\n|\Z)"
    return re.finditer(head, text, re.MULTILINE)


def _line_ends(text: str, start: int) -> Iterator[int]:
    yield start
    for number, found in enumerate(BREAK.finditer(text, start)):
        if number >= _MAX_LINES:
            return
        yield found.end()
    yield len(text)


def _reads(candidate: str, text: str, path: Path, wanted: object) -> bool:
    """Tell whether the parser reads what is wanted at a path, and all else as before."""
    try:
        found = _parsed(candidate)
    except BadInput:
        return False
    here = value_at(candidate, path)
    return here == wanted and _with(found, path, here) == _with(_parsed(text), path, wanted)


def _with(tree: Mapping[str, object], path: Path, value: object) -> dict[str, object]:
    """Return a tree with a value at a path; without it and tables left empty when it is None."""
    key, *inner = path
    if inner:
        below = tree.get(key)
        value = _with(below if isinstance(below, dict) else {}, tuple(inner), value) or None
    others = {name: item for name, item in tree.items() if name != key}
    return others if value is None else {**others, key: value}


def _parsed(text: str) -> dict[str, object]:
    try:
        return toml.loads(text.removeprefix("\ufeff"))
    except ValueError as error:
        raise BadInput(str(error)) from error


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else json.dumps(key)


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _by_hand(path: Path) -> BadInput:
    where = ".".join(path)
    return BadInput(f"{where} can't be changed by a program in the form that it has")
