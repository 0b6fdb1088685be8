"""Compare the front matter of two versions of a note."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from memory_bank.review.note_change import KeyChange

_MAX_SHOWN = 2000
"""Length of a value as JSON beyond which it is cut."""


def changes(before: Mapping[str, object], after: Mapping[str, object]) -> tuple[KeyChange, ...]:
    """Return the keys that changed: those of the version after in order, then removed ones."""
    return tuple(_changed(before, after))


def _changed(before: Mapping[str, object], after: Mapping[str, object]) -> Iterator[KeyChange]:
    for key in dict.fromkeys((*after, *before)):
        old = _json(before[key]) if key in before else None
        new = _json(after[key]) if key in after else None
        if old == new:
            continue
        left, right = _items(before.get(key)), _items(after.get(key))
        yield KeyChange(
            key=key,
            kind="added" if old is None else "removed" if new is None else "changed",
            before=_cut(old),
            after=_cut(new),
            gained=tuple(item for item in right if item not in left),
            lost=tuple(item for item in left if item not in right),
        )


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)


def _items(value: object) -> dict[str, None]:
    """Return the items of a list as text; nothing for any other value."""
    items = value if isinstance(value, list | tuple) else ()
    return dict.fromkeys(item if isinstance(item, str) else _json(item) for item in items)


def _cut(text: str | None) -> str | None:
    return text if text is None or len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…"
