"""Read TOML front matter, and change top-level keys without changing other characters."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from datetime import date, datetime

from memory_bank.base import toml
from memory_bank.base.dates import iso
from memory_bank.notes.blocks import BlockError, last_break
from memory_bank.notes.characters import BREAK
from memory_bank.notes.yaml import expected as _as_yaml

_AT = re.compile(r" \(at line ([0-9]+), column [0-9]+\)\Z")


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
    import tomlkit
    from tomlkit.items import Item

    old = values(block)
    head = toml.tables(block)[0].text
    document = tomlkit.parse(head)
    for key, value in changes.items():
        same = key in old and repr(old[key]) == repr(expected(value))
        if same or (value is None and key not in old):
            continue
        if key in old and (key not in document or not _is_plain(document.item(key))):
            raise BlockError(f"key {key!r} is not a plain `key = value`")
        if value is None:
            del document[key]
            continue
        holder = tomlkit.inline_table()  # a table in it is written on one line
        holder[key] = expected(value)
        document[key] = item = holder.value.item(key)
        if key not in old and isinstance(item, Item):
            item.trivia.trail = last_break(head or block, newline)
    return document.as_string() + block[len(head) :]


def _is_plain(item: object) -> bool:
    from tomlkit.items import InlineTable, Item, Table

    return isinstance(item, InlineTable) or (isinstance(item, Item) and not isinstance(item, Table))


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


def _index(block: str, found: re.Match[str] | None) -> int:
    if not found:
        return len(block)
    starts = [0, *(line.end() for line in BREAK.finditer(block))]
    return starts[min(int(found[1]), len(starts)) - 1]
