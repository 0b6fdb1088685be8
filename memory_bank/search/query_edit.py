"""Add conditions to the text of a query, and remove them: what is typed stays as it is."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import UTC, datetime
from typing import NamedTuple

from memory_bank.search.query import PART, condition_of

ONE_OF = frozenset({"type", "status", "trust", "in"})
"""Keys of which a note has one value: several are written with commas, and one must match."""
MOMENTS = frozenset({"since", "before"})
"""Keys of which a query has one value."""


class Written(NamedTuple):
    """A condition in the text of a query."""

    key: str
    """As the query language has it: `tag`, though `tags` is written."""
    value: str
    negated: bool
    start: int
    end: int

    @property
    def values(self) -> list[str]:
        """The values of which one must match."""
        if self.key in MOMENTS:
            return [self.value]
        return [one.strip() for one in self.value.split(",") if one.strip()]


def written(text: str, fields: Collection[str] = ()) -> tuple[Written, ...]:
    """Return the conditions in a query, in its order; `fields` as for `parse`."""
    return tuple(_written(text, fields))


def can_be_written(value: str) -> bool:
    """Tell whether a condition can have a value: quotes and commas have a meaning of their own."""
    return bool(value.strip()) and not set(value) & {'"', ",", "\n"}


def with_condition(text: str, key: str, value: str, fields: Collection[str] = ()) -> str:
    """Return a query with one condition more; of `since` and `before`, it has one only."""
    same = [one for one in written(text, fields) if one.key == key and not one.negated]
    if any(value.casefold() in map(str.casefold, one.values) for one in same):
        return text
    if same and key in MOMENTS:
        for one in reversed(same):
            text = _replaced(text, one, "")
        same = []
    if same and key in ONE_OF:
        return _replaced(text, same[-1], _shown(key, ",".join([*same[-1].values, value])))
    return " ".join(filter(None, (text.strip(), _shown(key, value))))


def without_condition(text: str, key: str, value: str, fields: Collection[str] = ()) -> str:
    """Return a query without a value of a key; conditions with other values keep these."""
    for one in reversed(written(text, fields)):
        rest = [other for other in one.values if other.casefold() != value.casefold()]
        if one.key == key and not one.negated and len(rest) < len(one.values):
            text = _replaced(text, one, _shown(key, ",".join(rest)) if rest else "")
    return text


def without(text: str, one: Written) -> str:
    """Return a query without one of its conditions."""
    return _replaced(text, one, "")


def _written(text: str, fields: Collection[str]) -> Iterator[Written]:
    now = datetime.now(UTC)
    for part in PART.finditer(text):
        key = part["key"] or part["word_key"]
        if key:
            value = (part["quoted_value"] or part["value"]).strip('"')
            found = condition_of(key, value, fields, now)
            if found:
                yield Written(found.key, value, part["negated"] is not None, *part.span())


def _shown(key: str, value: str) -> str:
    plain = value and not set(value) & set("\"'()[]{}") and not any(map(str.isspace, value))
    return f"{key}:{value}" if plain else f'{key}:"{value}"'


def _replaced(text: str, one: Written, by: str) -> str:
    before, after = text[: one.start], text[one.end :]
    if by:
        return before + by + after
    return " ".join(filter(None, (before.rstrip(), after.lstrip())))
