"""Parse untrusted TOML in linear time, and change one value of it by tomlkit.

`tomllib` takes quadratic time for dotted keys (13 s for 60 kB of `a.a.a…`) and recurses for each
bracket.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from typing import Any

from memory_bank.base import NamedTuple, lazy_pattern

Path = tuple[str, ...]
"""Keys of tables, from the outermost one inwards."""

MAX_PARTS = 32
"""Maximum number of parts of a dotted key."""

MAX_DEPTH = 100
"""Maximum nesting of brackets."""

_TOKEN = lazy_pattern(
    r'"""(?:[^"\\]|\\.|"{1,2}(?!"))*+(?:"{3,5}|\Z)'
    r"|'''(?:[^']|'{1,2}(?!'))*+(?:'{3,5}|\Z)"
    r'|"(?:[^"\\\n]|\\[^\n])*+"?'
    r"|'[^'\n]*+'?"
    r"|\#[^\r\n]*|[ \t]+|\r?\n|[A-Za-z0-9_+-]+|.",
    re.DOTALL,
)

_OPENING, _CLOSING = frozenset("[{"), frozenset("]}")

_LINE_ENDS = frozenset(["\n", "\r\n"])


class TooComplex(ValueError):
    """A text exceeds a limit: which one, and at which offset."""

    def __init__(self, reason: str, index: int) -> None:
        """Keep the reason and the offset."""
        super().__init__(reason)
        self.reason = reason
        self.index = index


class TomlTable(NamedTuple):
    """The text of a table, and the comments between it and the next header.

    The first has no header and no keys.
    """

    keys: Path
    start: int
    text: str
    comments: str


def parse_toml(text: str) -> dict[str, Any]:
    """Parse TOML; raise ValueError, as TOMLDecodeError or TooComplex.

    An integer with more digits than Python converts raises a plain ValueError.
    """
    _check(text)
    return tomllib.loads(text)


def split_tables(text: str) -> list[TomlTable]:
    """Return the tables of a text that `parse_toml` accepts; the first is above all headers."""
    table_list: list[TomlTable] = []
    spans = [*_spans(text), (len(text), len(text))]
    for (start, end), (following, _) in pairwise(spans):
        tree: Any = (
            parse_toml(text[start:end].partition("\n")[0].rstrip("\r")) if table_list else {}
        )
        keys: list[str] = []
        while tree and isinstance(tree, dict):
            keys += tree
            tree = tree[keys[-1]]
        table_list.append(TomlTable(tuple(keys), start, text[start:end], text[end:following]))
    return table_list


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each table starts, and its last statement ends."""
    start = end = line = depth = 0
    fresh = True
    for match in _TOKEN.finditer(text):
        part = match[0]
        if part in _LINE_ENDS:
            if not depth:
                line = match.end()
                end = end if fresh else line
                fresh = True
        elif part[0] not in " \t#\r":
            if fresh and part == "[":
                yield start, end
                start = end = line
            fresh = False
            depth += (part in _OPENING) - (part in _CLOSING)
    yield start, end if fresh else len(text)


def insert_value(text: str, path: Path, value: object) -> Iterator[str]:
    """Yield the text with a value in a new table at the end, then in each table that can hold it.

    A final line end stays. The caller checks that a text reads as wanted.
    """
    import tomlkit

    tree: Any = value
    for key in reversed(path):
        tree = {key: tree}
    table = tomlkit.dumps(tree)
    if text.endswith("\n"):
        yield f"{text}\n{table}"
    else:
        yield (f"{text}\n\n" if text else "") + table.removesuffix("\n")
    yield from change_value(text, path, value)


def change_value(text: str, path: Path, value: object) -> Iterator[str]:
    """Yield the text with a value set, or removed if None, in each table that can hold it.

    tomlkit is given one table at a time, since it reorders files that have an array of tables
    between the parts of another table. The caller checks that a text reads as wanted.
    """
    import tomlkit

    for table in reversed(split_tables(text)):
        if table.keys != path[: len(table.keys)]:
            continue
        with suppress(ValueError, LookupError, TypeError, AttributeError):  # it is in another one
            document = tomlkit.parse(table.text)
            holder: Any = document
            for key in path[:-1]:
                holder = holder[key]
            old = holder.get(path[-1])
            if value is None:
                del holder[path[-1]]
            elif isinstance(value, list) and isinstance(old, list) and old == value[: len(old)]:
                old.extend(value[len(old) :])  # comments inside the list stay
            else:
                holder[path[-1]] = value
            new = document.as_string()
            yield text[: table.start] + new + text[table.start + len(table.text) :]


def _check(text: str) -> None:
    depth = dots = 0
    for match in _TOKEN.finditer(text):
        part = match[0]
        if part == ".":
            dots += 1
            if dots >= MAX_PARTS:
                raise TooComplex(f"a key of more than {MAX_PARTS} parts", match.start())
        elif part in _OPENING:
            depth += 1
            dots = 0
            if depth > MAX_DEPTH:
                raise TooComplex(f"nested deeper than {MAX_DEPTH} levels", match.start())
        elif part in _CLOSING:
            depth -= 1
            dots = 0
        elif part in _LINE_ENDS or part in ",=":
            dots = 0
