"""Read TOML front matter, and change top-level keys without changing other characters.

The standard library's parser returns no offsets, so `memory_bank.base.toml` finds the statements.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from datetime import date, datetime

from memory_bank.base import toml
from memory_bank.base.dates import iso
from memory_bank.notes.blocks import BlockError, last_break, line_start, splice
from memory_bank.notes.characters import BREAK
from memory_bank.notes.yaml import expected as _as_yaml

_AT = re.compile(r" \(at line ([0-9]+), column [0-9]+\)\Z")

_BARE = re.compile(r"[A-Za-z0-9_-]+")

_KEY = re.compile(r"\"([^\"\\\r\n]*)\"|'([^'\r\n]*)'|([A-Za-z0-9_-]+)")

_CONTROL = re.compile(r"[\x7f-\x9f]")


def values(block: str) -> dict[str, object]:
    """Return the values of a block, dates as dates; raise BlockError."""
    try:
        found = toml.loads(block)
        repr(found)  # fails on a number of 5,000 digits, which nobody could print or compare
    except tomllib.TOMLDecodeError as error:
        at = _AT.search(str(error))
        raise BlockError(_AT.sub("", str(error)), _index(block, at)) from error
    except toml.TooComplex as error:
        raise BlockError(error.reason, error.index) from error
    except ValueError as error:
        raise BlockError(str(error)) from error
    return found


def edit(block: str, changes: Mapping[str, object], newline: str) -> str:
    """Return the block with these top-level keys set, or without those set to None.

    A new key follows the last top-level one. Raise BlockError for a table, a dotted key and all
    else that is not a single `key = value`.
    """
    old = values(block)
    edits: list[tuple[int, int, str]] = []
    statements = dict(_statements(block))
    end = max((place.end for place in statements.values()), default=0)
    for key, value in changes.items():
        same = key in old and repr(old[key]) == repr(expected(value))
        if same or (value is None and key not in old):
            continue
        if key not in old:
            head = key if _BARE.fullmatch(key) else _text(key)
            newline = last_break(block[:end] or block, newline)
            edits.append((end, end, f"{head} = {render(value)}{newline}"))
        elif key not in statements:
            raise BlockError(f"key {key!r} is not a plain `key = value`")
        elif value is None:
            place = statements[key]
            edits.append((line_start(block, place.start), place.end, ""))
        else:
            place = statements[key]
            edits.append((place.value, place.value_end, render(value)))
    return splice(block, edits)


def render(value: object) -> str:
    """Return a value as TOML on one line; raise BadInput."""
    value = expected(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return iso(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{_text(key)} = {render(item)}" for key, item in value.items())
        return f"{{{pairs}}}"
    if isinstance(value, list):
        return f"[{', '.join(render(item) for item in value)}]"
    return _text(value) if isinstance(value, str) else repr(value)


def expected(value: object) -> object:
    """Return the value that reading a written value gives: as for YAML, but dates are dates."""
    if isinstance(value, datetime):
        return datetime.fromisoformat(iso(value))
    if isinstance(value, date):
        return value
    if isinstance(value, list | tuple):
        return [expected(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): expected(item) for key, item in value.items()}
    return _as_yaml(value)


def _text(text: str) -> str:
    quoted = json.dumps(text, ensure_ascii=False)
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04X}", quoted)


def _statements(block: str) -> Iterator[tuple[str, toml.Statement]]:
    """Yield the keys above the first table that are set by a plain `key = value`."""
    for found in toml.statements(block):
        if key := _KEY.fullmatch(block, found.start, found.key_end):
            yield key[1] or key[2] or key[3] or "", found


def _index(block: str, found: re.Match[str] | None) -> int:
    if not found:
        return len(block)
    starts = [0, *(line.end() for line in BREAK.finditer(block))]
    return starts[min(int(found[1]), len(starts)) - 1]
