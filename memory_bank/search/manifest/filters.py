"""Filter documents by conditions on fields, dates, folders and links."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType

from memory_bank.base import NamedTuple
from memory_bank.notes.names import lookup_key
from memory_bank.search.manifest import document_rows
from memory_bank.search.manifest.link_rows import name_number
from memory_bank.search.manifest.manifest import GONE, UNREADABLE, Manifest
from memory_bank.search.retrievers.base import Scope

HIDING = "status"
"""The field whose condition includes hidden documents."""

REPO = "repo"
"""The key of conditions on repositories, which only an index of several can meet."""


class Condition(NamedTuple):
    """A condition that a document must meet, or must not if `negated`.

    `key` is since, before, in, links, or a field. Of several values, separated by commas, one must
    match.
    """

    key: str
    value: str | datetime
    negated: bool = False


_LINKS = (
    "id IN (SELECT document FROM links WHERE lower(ghost) IN (?1, ?1 || '.md') OR dest IN"
    " (SELECT document FROM names WHERE name = ?2))"
)

_FIELD = "id IN (SELECT document FROM fields WHERE key = ?1 AND value = ?2)"

_TAG = (
    "id IN (SELECT document FROM fields WHERE key = 'tag' AND"
    " (value = ?1 OR substr(value, 1, length(?1) + 1) = ?1 || '/'))"
)
"""A tag has its children: `net` finds `net/ports`."""

_FOLDER = "substr(key, 1, length(?1)) = ?1"


def find_scope(
    manifest: Manifest,
    conditions: Sequence[Condition],
    *,
    hidden: bool,
    written: Mapping[str, float] = MappingProxyType({}),
) -> Scope:
    """Return the documents that meet all conditions; hidden ones only if requested.

    `written` has later times of updates from the log of updates, by names as in `known_as`.
    """
    without = not hidden and not any(condition.key == HIDING for condition in conditions)
    if not conditions:
        rows = manifest.execute("SELECT id FROM documents WHERE hidden = 1") if without else ()
        return Scope(without=frozenset(number for (number,) in rows))
    live = f"SELECT id FROM documents WHERE state NOT IN ({GONE}, {UNREADABLE})"
    if without:
        live += " AND NOT hidden"
    met = [
        _meeting(manifest, condition, written) for condition in conditions if not condition.negated
    ]
    unmet = [
        _meeting(manifest, condition, written) for condition in conditions if condition.negated
    ]
    if met:  # few, mostly
        numbers = list(set.intersection(*met))
        rows_met = manifest.chunked(f"{live} AND id IN ({{}})", numbers)
    else:
        rows_met = manifest.execute(live).fetchall()
    return Scope(only=frozenset(number for (number,) in rows_met).difference(*unmet))


def list_fields(manifest: Manifest) -> set[str]:
    """Return the keys of all fields."""
    return {name for (name,) in manifest.execute("SELECT DISTINCT key FROM fields")}


def met_by_any(manifest: Manifest, key: str, value: str) -> bool:
    """Tell whether any document meets a condition with one value."""
    return bool(_having(manifest, key, value))


def _meeting(manifest: Manifest, condition: Condition, written: Mapping[str, float]) -> set[int]:
    value = condition.value
    if isinstance(value, datetime):
        sign = {"since": ">=", "before": "<"}[condition.key]
        column = "max(created, updated)" if condition.key == "since" else "created"
        met = _numbers(manifest, f"{column} {sign} ?1", (value.timestamp(),))
        if condition.key != "since":
            return met
        late = [key for key, when in written.items() if when >= value.timestamp()]
        return met | document_rows.known_as(manifest, late)
    values = [part.strip() for part in value.split(",") if part.strip()]
    return {number for word in values for number in _having(manifest, condition.key, word)}


def _having(manifest: Manifest, name: str, value: str) -> set[int]:
    """Return the documents that meet a condition with one of its values."""
    if name == "in":
        return _numbers(manifest, _FOLDER, (value.strip("/") + "/",))
    if name == "links":
        return _numbers(manifest, _LINKS, (lookup_key(value), name_number(lookup_key(value))))
    text = value.casefold()
    if name.casefold() == "tag":
        return _numbers(manifest, _TAG, (text.strip("#/") or text,))
    return _numbers(manifest, _FIELD, (name.casefold(), text.lstrip("#") or text))


def _numbers(manifest: Manifest, test: str, values: tuple[object, ...]) -> set[int]:
    sql = f"SELECT id FROM documents WHERE {test}"
    return {number for (number,) in manifest.execute(sql, values)}
