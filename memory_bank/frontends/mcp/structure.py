"""The structure of an answer, for programs: the fields of the command's JSON, texts as quotes.

Some programs hand their model nothing but the structure, so what notes say is quoted in it too.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from datetime import date
from typing import Any

from memory_bank.frontends.mcp.fencing import Quotes
from memory_bank.frontends.rendering import fields_of, schema

_OURS = frozenset(
    {
        *("schema_version", "action", "etag", "content_hash", "stamp", "repaired", "total_size"),
        *("created_at", "updated_at", "last_accessed_at", "mode_used", "fallback_reason"),
        *("rule", "severity"),
    }
)
"""Fields whose text this program makes up by itself. Any other text is a quote."""
_WORD = re.compile(r"[\w.:+-]*")
NOTICE = "notice"
"""The field that says what the quotes are."""


def structured(quotes: Quotes, value: object, without: Collection[str] = ()) -> dict[str, Any]:
    """Return the fields of a record, `without` some, as JSON has them; texts of notes are quotes.

    Fields that are None are left out.
    """
    found = {NOTICE: quotes.notice, **_plain(quotes, value)}
    return {name: item for name, item in found.items() if name not in without}


def structured_schema(
    kind: Any,  # noqa: ANN401  (any type)
    *,
    depth: int,
    without: Collection[str] = (),
) -> dict[str, Any]:
    """Return the JSON schema of what `structured` makes of a record of that type."""
    found = schema(kind, depth=depth, without=without)
    found["properties"] = {NOTICE: {"type": "string"}, **found["properties"]}
    return found


def _plain(quotes: Quotes, value: object, field: str = "") -> Any:  # noqa: ANN401  (any JSON)
    names = fields_of(type(value))
    if names is not None:
        pairs = ((name, getattr(value, name)) for name in names)
        return {name: _plain(quotes, item, name) for name, item in pairs if item is not None}
    if isinstance(value, Mapping):
        return {quotes.inside(str(key)): _plain(quotes, item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        found = [_plain(quotes, item, field) for item in value]
        return found if isinstance(value, list | tuple) else sorted(found)
    if value is None or isinstance(value, bool | int | float):
        return value
    text = value.isoformat() if isinstance(value, date) else str(value)
    return text if field in _OURS and _WORD.fullmatch(text) else quotes.inside(text)
