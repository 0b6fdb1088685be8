"""Which notes a question is about: conditions on tags, types, dates, folders, links, fields."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import NamedTuple

from memory_bank.manifest import lookup
from memory_bank.manifest.database import GONE, UNINDEXED
from memory_bank.notes.names import key
from memory_bank.retrievers.base import Scope
from memory_bank.sqlite import Connection


class Condition(NamedTuple):
    """One condition that a note must meet, or must not when `negated`.

    `key` is tag, type, status, since, before, in, links, or a key of the notes' front matter.
    Several values separated by commas: any of them will do.
    """

    key: str
    value: str | datetime
    negated: bool = False


_LINKS = (
    "id IN (SELECT note FROM links WHERE lower(ghost) IN (?1, ?1 || '.md') OR dest IN"
    " (SELECT note FROM names WHERE name = ?2))"
)
_SQL = {
    "tag": "id IN (SELECT note FROM tags WHERE tag = ?1)",
    "type": "lower(type) = ?1",
    "status": (
        "(status = ?1 OR id IN (SELECT note FROM fields WHERE key = 'status' AND value = ?1))"
    ),
    "in": "substr(path, 1, length(?1)) = ?1",
    "links": _LINKS,
}


def scope(
    base: Connection,
    conditions: Sequence[Condition],
    *,
    archived: bool,
    written: Mapping[str, float] = MappingProxyType({}),
) -> Scope:
    """Return the notes that meet all conditions; archived ones only when asked for.

    `written` says when notes were updated last, by what the access log knows them by, where the
    manifest can't know.
    """
    hidden = not archived and not any(c.key == "status" for c in conditions)
    if not conditions:
        # the second condition lets SQLite use the index of the few that are not active
        archive = "SELECT id FROM notes WHERE status = 'archived' AND status <> 'active'"
        rows = base.execute(archive) if hidden else ()
        return Scope(without=frozenset(number for (number,) in rows))
    live = f"SELECT id FROM notes WHERE state NOT IN ({GONE}, {UNINDEXED})"
    if hidden:
        live += " AND status <> 'archived'"
    found = {number for (number,) in base.execute(live)}
    for condition in conditions:
        met = _meeting(base, condition, written)
        found = found - met if condition.negated else found & met
    return Scope(only=frozenset(found))


def fields(base: Connection) -> set[str]:
    """Return the keys of front matter that can be filtered by, beyond our own."""
    return {name for (name,) in base.execute("SELECT DISTINCT key FROM fields")}


def _meeting(base: Connection, condition: Condition, written: Mapping[str, float]) -> set[int]:
    value = condition.value
    if isinstance(value, datetime):
        sign = {"since": ">=", "before": "<"}[condition.key]
        column = "max(created, updated)" if condition.key == "since" else "created"
        sql = f"SELECT id FROM notes WHERE {column} {sign} ?1"
        met_by_files = _numbers(base.execute(sql, (value.timestamp(),)))
        if condition.key != "since":
            return met_by_files
        late = [note for note, when in written.items() if when >= value.timestamp()]
        return met_by_files | lookup.known_as(base, late)
    values = [part.strip() for part in value.split(",") if part.strip()]
    test = _SQL.get(condition.key)
    if test is None:
        met = "SELECT note FROM fields WHERE key = ?1 AND value = ?2"
        name = condition.key.casefold()
        return {n for v in values for n in _numbers(base.execute(met, (name, v.casefold())))}
    select = f"SELECT id FROM notes WHERE {test}"
    return {n for v in values for n in _numbers(base.execute(select, _written(condition.key, v)))}


def _written(name: str, value: str) -> tuple[str] | tuple[str, int]:
    """Return a value as the columns have it."""
    if name == "links":
        from memory_bank.manifest.link_targets import (
            known_as,  # start-up: few questions name a note
        )

        return key(value), known_as(value)
    return (value.strip("/") + "/",) if name == "in" else (value.lower().lstrip("#"),)


def _numbers(rows: Iterable[tuple[int]]) -> set[int]:
    return {number for (number,) in rows}
