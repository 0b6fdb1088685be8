"""Structured content of an answer: the fields of the command's JSON, with note text quoted.

Some agents' programs give their model only the structured content, so note text is quoted here too.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from memory_bank.base.rendering import fields_of, fields_shown, plain, schema
from memory_bank.base.text import Quotes

_OURS = frozenset(
    {
        *("schema_version", "action", "etag", "content_hash", "repaired", "total_size"),
        *("created_at", "updated_at", "last_accessed_at", "mode_used", "fallback_reason"),
        *("rule", "severity", "version", "commit", "committed_at", "deleted_at"),
    }
)
"""Fields whose text comes from this program. Any other text is quoted."""

_WORD = re.compile(r"[\w.:+-]*")

NOTICE = "notice"
"""The field that explains the quotes."""


def structured(quotes: Quotes, value: object, without: Collection[str] = ()) -> dict[str, Any]:
    """Return the fields of a record as JSON values, `without` some; note text is quoted.

    Fields that are None are omitted. A record's property `quoted` names fields whose text quotes
    note text already.
    """
    found = {NOTICE: quotes.notice, **_plain(quotes, value)}
    return {name: item for name, item in found.items() if name not in without}


def structured_schema(
    kind: Any,  # noqa: ANN401  (any type)
    *,
    depth: int,
    without: Collection[str] = (),
) -> dict[str, Any]:
    """Return the JSON schema of `structured` for records of a type."""
    found = schema(kind, depth=depth, without=without)
    found["properties"] = {NOTICE: {"type": "string"}, **found["properties"]}
    return found


def _plain(quotes: Quotes, value: object, field: str = "") -> Any:  # noqa: ANN401  (any JSON)
    names = fields_of(type(value))
    if names is not None:
        quoted: Collection[str] = getattr(value, "quoted", ())
        return {
            name: item if name in quoted else _plain(quotes, item, name)
            for name, item in fields_shown(value, names)
        }
    if isinstance(value, Mapping):
        return {quotes.inside(str(key)): _plain(quotes, item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        found = [_plain(quotes, item, field) for item in value]
        return found if isinstance(value, list | tuple) else sorted(found)
    if value is None or isinstance(value, bool | int | float):
        return value
    text = str(plain(value))
    return text if field in _OURS and _WORD.fullmatch(text) else quotes.inside(text)
