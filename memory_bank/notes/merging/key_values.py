"""Rules for keys of front matter that both sides changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from memory_bank.notes.dates import to_datetime

_LISTS = frozenset({
    "tags", "tag", "aliases", "alias", "entity_refs", "file_refs", "symbol_refs",
})  # fmt: skip
_TAGS = frozenset({"tags", "tag"})
_CREATED = ("created_at", "created", "date")
_UPDATED = frozenset({"updated_at", "updated", "modified", "lastmod"})
_VERIFIED = "verified_commit"
_ORIGIN = frozenset({"id", *_CREATED, "source_type", "source_agent", "session_id"})
"""Keys that say where a note comes from: of one that both sides made, the older ones stay."""


class Values(NamedTuple):
    """The values of one key; None where the key is missing."""

    base: object
    ours: object
    theirs: object


def plain(key: str) -> str:
    """Return a key as schema.py compares keys."""
    return key.strip().lower().replace("-", "_").replace(" ", "_")


def is_list(key: str, values: Values) -> bool:
    """Tell whether a key has a list of tags, names or references on each side that has it."""
    return plain(key) in _LISTS and all(
        value is None or isinstance(value, list) for value in values
    )


def united(key: str, values: Values) -> list[object]:
    """Return a list with what either side added and without what either side removed."""
    base, ours, theirs = (
        {_same(key, item): item for item in value} if isinstance(value, list) else {}
        for value in values
    )
    kept = [item for name, item in ours.items() if name in theirs or name not in base]
    return kept + [item for name, item in theirs.items() if name not in ours and name not in base]


def _same(key: str, item: object) -> str:
    """Return by what an item of a list is compared."""
    if plain(key) in _TAGS and isinstance(item, str):
        return item.strip().lstrip("#").casefold()
    return repr(item)


def takes_theirs(key: str, values: Values, *, ours_is_older: bool | None) -> bool | None:
    """Tell whether theirs is right for a key that both sides changed; None: it is a conflict.

    A date of creation is the earlier one, a date of update the later one. Of two commits at which a
    note was confirmed either may stay, since the code there is compared with the merged code: the
    choice is the same in both directions. `ours_is_older` tells which of two notes was made first;
    None if it is one note.
    """
    name = plain(key)
    if name == _VERIFIED and all(isinstance(value, str) for value in values[1:]):
        return str(values.theirs) > str(values.ours)
    if name in _ORIGIN and ours_is_older is not None:
        return not ours_is_older
    if name in _CREATED or name in _UPDATED:
        ours, theirs = to_datetime(values.ours), to_datetime(values.theirs)
        if ours is None or theirs is None or ours == theirs:
            return None
        return (theirs < ours) == (name in _CREATED)
    return None


def older(ours: Sequence[tuple[str, object]], theirs: Sequence[tuple[str, object]]) -> bool:
    """Tell whether ours was created first, by the keys and values of front matter; else its id."""
    return _age(ours) <= _age(theirs)


def _age(keys: Sequence[tuple[str, object]]) -> tuple[bool, float, str]:
    named = {plain(key): value for key, value in keys}
    moments = (to_datetime(named.get(name)) for name in _CREATED)
    moment = next((moment for moment in moments if moment is not None), None)
    return moment is None, moment.timestamp() if moment else 0.0, str(named.get("id", ""))
