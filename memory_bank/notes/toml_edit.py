"""TOML front matter: read it, and change top-level keys leaving all other characters alone.

The standard library's parser keeps no places, so statements are found by asking it: the fewest
lines that parse are one statement.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from datetime import date, datetime

from memory_bank.notes.dates import iso
from memory_bank.notes.places import BREAK, BlockError, last_break, splice
from memory_bank.notes.yaml_write import expected as _as_yaml

_AT = re.compile(r" \(at line ([0-9]+), column [0-9]+\)\Z")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_KEY = re.compile(r"[ \t]*(\"[^\"\\\r\n]*\"|'[^'\r\n]*'|[A-Za-z0-9_-]+)[ \t]*=[ \t]*")
_TABLE = re.compile(r"[ \t]*\[")
_BLANK = re.compile(r"[ \t]*(?:#[^\r\n]*)?(?:\r?\n)?")
_COMMENT = re.compile(r"[ \t]*(?:#|\r?\n|\Z)")
_CONTROL = re.compile(r"[\x7f-\x9f]")
_MAX_LINES = 300
"""Of one statement: each further line costs another parse of all before it."""


def values(block: str) -> dict[str, object]:
    """Return what a block says, dates as dates; raise BlockError."""
    try:
        found = tomllib.loads(block)
        repr(found)  # fails on a number of 5,000 digits, which nobody could print or compare
    except tomllib.TOMLDecodeError as error:
        at = _AT.search(str(error))
        raise BlockError(_AT.sub("", str(error)), _index(block, at)) from error
    except RecursionError as error:
        raise BlockError("nested too deeply") from error
    except ValueError as error:
        raise BlockError(str(error)) from error
    return found


def edit(block: str, changes: Mapping[str, object], newline: str) -> str:
    """Return the block with these top-level keys set, or without those set to None.

    A new key stands behind the last top-level one. Raise BlockError for a table, a dotted key
    and whatever else is no single `key = value`.
    """
    old = values(block)
    edits: list[tuple[int, int, str]] = []
    statements = {name: (start, stop) for name, start, stop in _statements(block)}
    end = max((span[1] for span in statements.values()), default=0)
    for key, value in changes.items():
        same = key in old and repr(old[key]) == repr(expected(value))
        if same or (value is None and key not in old):
            continue
        if key not in old:
            head = key if _BARE.fullmatch(key) else _text(key)
            newline = last_break(block[:end] or block, newline)
            edits.append((end, end, f"{head} = {render(value)}{newline}"))
        elif key not in statements:
            raise BlockError(f"key {key!r} is no plain `key = value`")
        elif value is None:
            edits.append((*statements[key], ""))
        else:
            edits.append((*_value_span(block, *statements[key]), render(value)))
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
    """Return what reading gives for a value that was written: as for YAML, but dates are dates."""
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


def _statements(block: str) -> Iterator[tuple[str, int, int]]:
    """Yield each `key = value` above the first table: key, start and end of its lines."""
    lines = [found.end() for found in BREAK.finditer(block)]
    start = 0
    for number, end in enumerate(lines):
        if end <= start:
            continue
        if _TABLE.match(block, start):
            return
        if _BLANK.fullmatch(block, start, end):
            start = end
            continue
        for stop in lines[number : number + _MAX_LINES]:
            try:
                found = tomllib.loads(block[start:stop])
            except tomllib.TOMLDecodeError:
                continue
            key = _KEY.match(block, start)
            if key and len(found) == 1:
                yield next(iter(found)), start, stop
            start = stop
            break
        else:
            return


def _value_span(block: str, start: int, end: int) -> tuple[int, int]:
    """Return where a statement's value stands, without the comment behind it."""
    key = _KEY.match(block, start)
    begin = key.end() if key else start
    whole = tomllib.loads(block[start:end])
    for found in _COMMENT.finditer(block, begin, end):
        stop = found.start()
        try:
            if repr(tomllib.loads(block[start:stop])) == repr(whole):
                return begin, stop
        except tomllib.TOMLDecodeError:
            continue
    raise BlockError("can't tell where the value ends", start)


def _index(block: str, found: re.Match[str] | None) -> int:
    if not found:
        return len(block)
    starts = [0, *(line.end() for line in BREAK.finditer(block))]
    return starts[min(int(found[1]), len(starts)) - 1]
