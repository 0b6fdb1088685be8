"""Compare the front matter and the links of two versions of a note; secrets are hidden."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from memory_bank.base.errors import UnreadableNote
from memory_bank.notes.characters import decode
from memory_bank.notes.compare.note_change import KeyChange, LinkChange
from memory_bank.notes.note import NoteLink
from memory_bank.notes.secrets import secrets

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


def without_secrets(data: bytes, allowed: Collection[str] = ()) -> bytes:
    """Return a file with `[secret HASH]` for each secret, on as many lines; else its own bytes.

    `allowed` are the hashes of values that are no secrets.
    """
    try:
        text = decode(data).text
    except UnreadableNote:
        return data
    end = len(text)
    parts: list[str] = []
    for one in sorted(secrets.find(text, allowed), key=lambda one: one.start, reverse=True):
        if one.end > end:  # inside of another one
            continue
        name = f"[secret {secrets.fingerprint(one.value)}]"
        parts += [text[one.end : end], name + "\n" * text.count("\n", one.start, one.end)]
        end = one.start
    return "".join([*parts, text[:end]][::-1]).encode() if parts else data


def gained(before: Sequence[NoteLink], after: Sequence[NoteLink]) -> tuple[LinkChange, ...]:
    """Return the links that the version after has and the one before hasn't, in their order.

    Exchange the arguments for the links that were lost. References of the front matter are left out
    unless they have a type: a change of its keys says them.
    """
    return tuple(_more(_shown(before), _shown(after)))


def _shown(links: Sequence[NoteLink]) -> list[NoteLink]:
    return [link for link in links if (link.kind, link.type) != ("reference", "mentions")]


def _more(before: Sequence[NoteLink], after: Sequence[NoteLink]) -> Iterator[LinkChange]:
    more = Counter(map(_meant, after)) - Counter(map(_meant, before))
    for link in after:
        target, kind = _meant(link)
        if times := more.pop((target, kind), 0):
            yield LinkChange(target, kind, link.line, times)


def _meant(link: NoteLink) -> tuple[str, str]:
    place = f"#{link.heading}" if link.heading else f"^{link.block}" if link.block else ""
    return f"{link.target}{place}", link.type
