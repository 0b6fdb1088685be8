"""Read the fields of a hook's event, of which nothing is taken for granted."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from stat import S_ISREG
from typing import Any

Payload = Mapping[str, Any]

_LONGEST_ID = 200

_MOST_NUMBER = 10**12
"""The largest count that is believed: a database holds no number of any size."""

_FIRST, _LAST = 1e9, 1e11
"""Seconds since 1970 that can be those of an event; more are milliseconds."""


def read_text(payload: Payload, *names: str) -> str:
    """Return the first of some fields that is a text and not empty; else an empty text."""
    for name in names:
        value = payload.get(name)
        if isinstance(value, str) and value:
            return value
    return ""


def read_identifier(payload: Payload, *names: str) -> str:
    """Return a field that identifies something; empty if it is missing or can't be an id."""
    identity = read_text(payload, *names)
    return identity if len(identity) <= _LONGEST_ID and identity.isprintable() else ""


def read_fields(payload: Payload, name: str) -> Payload:
    """Return a field that has fields; else none."""
    mapping = payload.get(name)
    return mapping if isinstance(mapping, dict) else {}


def read_project(payload: Payload, *variables: str) -> str:
    """Return the folder of a client's project: of a variable, else the working directory."""
    for variable in variables:
        folder = os.environ.get(variable, "")
        if os.path.isabs(folder) and os.path.isdir(folder):
            return folder
    folder = read_text(payload, "cwd")
    return folder if os.path.isabs(folder) else os.getcwd()


def read_seconds(value: object) -> float:
    """Return seconds since 1970 of a time in ISO 8601, in seconds or milliseconds; else 0."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        if not abs(value) < _MOST_NUMBER * 1000:
            return 0.0  # also NaN; not all whole numbers can be floats
        return _check_time(float(value) / (1000 if value > _LAST else 1))
    if isinstance(value, str) and value:
        from datetime import UTC, datetime

        with suppress(ValueError, OverflowError):
            moment = datetime.fromisoformat(value)
            return _check_time(
                (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
            )
    return 0.0


def _check_time(score: float) -> float:
    return score if _FIRST < score < _LAST else 0.0  # NaN isn't either


def digest(*parts: object) -> str:
    """Return a short text that differs between different values."""
    data = repr(parts).encode(errors="replace")
    return f"{zlib.crc32(data):08x}{zlib.adler32(data):08x}{len(data):x}"


def message_key(message: str) -> str:
    """Return the key of the last text of a turn, the same in an event and in the transcript."""
    return f"said {digest(message.strip())}"


def end_of(file: str, most: int, having: str) -> Iterator[Payload]:
    """Yield the JSON objects in the last bytes of a file whose line has a text, the last first.

    None if the file can't be read.
    """
    try:
        with open(file, "rb") as lines:
            if not S_ISREG(os.fstat(lines.fileno()).st_mode):
                return
            lines.seek(max(0, lines.seek(0, os.SEEK_END) - most))
            data = lines.read(most)
    except OSError:
        return
    needle = having.encode(errors="replace")
    for line in reversed([line for line in data.splitlines() if needle in line]):
        with suppress(ValueError, RecursionError):
            document = json.loads(line)
            if isinstance(document, dict):
                yield document


def parse_json(value: object) -> object:
    """Return the value of a text that is a JSON object or list; anything else unchanged."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        with suppress(ValueError, RecursionError):
            return json.loads(value)
    return value


def drop_fields(value: object, *names: str) -> object:
    """Return an object without some of its fields; anything else unchanged."""
    if not isinstance(value, dict):
        return value
    return {name: item for name, item in value.items() if name not in names}


def read_number(value: object) -> int:
    """Return a whole number that counts something, at most 10¹²; 0 for anything else."""
    if not isinstance(value, int) or isinstance(value, bool):
        return 0
    return min(max(value, 0), _MOST_NUMBER)
