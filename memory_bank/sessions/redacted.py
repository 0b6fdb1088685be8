"""Redact all texts of a session's records."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from memory_bank.sessions.redaction import Redacted

Redact = Callable[[str], Redacted]
_KEPT = frozenset({"id", "session_id", "obs_type", "path", "commit", "repository_id", "agent"})

Record = TypeVar("Record")


def redacted(record: Record, redact: Redact) -> tuple[Record, int]:
    """Return a record, such as an observation, with all its texts redacted, and how many were.

    Ids and paths of notes stay.
    """
    given: Any = record
    changes: dict[str, Any] = {}
    total = 0
    for one in fields(given):
        if one.name not in _KEPT:
            changes[one.name], count = _value(getattr(given, one.name), redact)
            total += count
    made: Record = replace(given, **changes)
    return made, total


def _value(value: object, redact: Redact) -> tuple[object, int]:
    if isinstance(value, str):
        found = redact(value)
        return found.text, found.count
    if isinstance(value, tuple):
        pairs = [_value(item, redact) for item in value]
        return tuple(item for item, _ in pairs), sum(count for _, count in pairs)
    if is_dataclass(value):
        return redacted(value, redact)
    return value, 0
