"""Read files with a JSON value on each line, of which nothing is taken for granted."""

from __future__ import annotations

import json
import os
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from stat import S_ISREG
from typing import Any, TypeAlias

Line: TypeAlias = Mapping[str, Any]

MOST_LINE = 20_000_000
"""Bytes of a line; a longer one is skipped."""

MOST_FILE = 500_000_000

_LONGEST_ID = 200

_FIRST, _LAST = 1e9, 1e11
"""Seconds since 1970 that can be those of a session; more are milliseconds."""


def read(file: Path, skipped: Counter[str]) -> Iterator[Line]:
    """Yield the objects of a file; other lines are counted by why they were skipped.

    Raises OSError.
    """
    with open(file, "rb") as lines:  # noqa: PTH123 - a link to a pipe would wait for ever
        if not S_ISREG(os.fstat(lines.fileno()).st_mode):
            skipped["not a file"] += 1
            return
        size = 0
        while size < MOST_FILE and (line := lines.readline(MOST_LINE)):
            size += len(line)
            if not line.endswith(b"\n") and len(line) == MOST_LINE:
                skipped["line too long"] += 1
                while (rest := lines.readline(MOST_LINE)) and not rest.endswith(b"\n"):
                    size += len(rest)
                continue
            found = parsed(line)
            if isinstance(found, dict):
                yield found
            elif line.strip():
                skipped["cut off" if not line.endswith(b"\n") else "not JSON"] += 1


def parsed(line: bytes | str) -> object:
    """Return a JSON value; None for anything else."""
    with suppress(ValueError, RecursionError):
        return json.loads(line)
    return None


def first(file: Path, most: int = 40) -> Iterator[Line]:
    """Yield the objects among the first lines of a file; none if it can't be read."""
    with suppress(OSError):
        for number, line in enumerate(read(file, Counter())):
            if number >= most:
                return
            yield line


def text(line: Line, *names: str) -> str:
    """Return the first of some fields that is a text and not empty."""
    return next((found for name in names if isinstance(found := line.get(name), str) and found), "")


def identifier(line: Line, *names: str) -> str:
    """Return a field that identifies something; empty if it can't be an id."""
    found = text(line, *names)
    return found if len(found) <= _LONGEST_ID and found.isprintable() else ""


def fields(line: Line, name: str) -> Line:
    """Return a field that has fields; else none."""
    found = line.get(name)
    return found if isinstance(found, dict) else {}


def items(line: Line, name: str) -> list[Line]:
    """Return those items of a list that have fields."""
    found = line.get(name)
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def number(value: object) -> int:
    """Return a whole number that counts something; 0 for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def seconds(value: object) -> float:
    """Return seconds since 1970 of a time in ISO 8601, in seconds or milliseconds; else 0."""
    found = 0.0
    if isinstance(value, int | float) and not isinstance(value, bool):
        found = float(value) / (1000 if value > _LAST else 1)
    elif isinstance(value, str) and value:
        with suppress(ValueError, OverflowError):
            time = datetime.fromisoformat(value)
            found = (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
    return found if _FIRST < found < _LAST else 0.0


def texts(content: object) -> str:
    """Return the text of a message's content: a string, or its parts that are text."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        content = [content]
    if not isinstance(content, list):
        return ""
    parts = (part if isinstance(part, str) else text(part, "text", "input_text")
             for part in content if isinstance(part, str | dict))  # fmt: skip
    return "\n".join(filter(None, parts))


def listed(folder: Path, pattern: str) -> list[Path]:
    """Return the files of a folder that fit a pattern, sorted; none if it can't be read."""
    with suppress(OSError):
        return sorted(path for path in folder.glob(pattern) if path.is_file())
    return []


def digest(*parts: object) -> str:
    """Return a short text that differs between different values, the same as in keys of hooks."""
    data = repr(parts).encode(errors="replace")
    return f"{zlib.crc32(data):08x}{zlib.adler32(data):08x}{len(data):x}"
