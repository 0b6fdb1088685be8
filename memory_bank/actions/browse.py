"""Browse the notes of a bank: by folder, type and tag, the newest first, page by page."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from memory_bank import note_rows
from memory_bank.actions.listing import Listed, listed
from memory_bank.bank import Bank, View
from memory_bank.manifest import documents, filters
from memory_bank.manifest.filters import Condition
from memory_bank.search.query import conditions

PAGE = 50
"""Number of notes of a page."""
_MOST_TAGS = 40


class Browsed(NamedTuple):
    """A page of notes, and the folders, types and tags to choose from."""

    notes: tuple[Listed, ...]
    total: int
    """Number of notes on all pages."""
    offset: int
    folders: dict[str, int]
    """The folders in the chosen one, with the numbers of their notes."""
    types: dict[str, int]
    tags: dict[str, int]
    """The most used."""


def browse(
    bank: Bank,
    *,
    folder: str = "",
    type: str = "",  # noqa: A002  (the field's word)
    tag: str = "",
    cites: str = "",
    archived: bool = False,
    offset: int = 0,
    limit: int = PAGE,
) -> Browsed:
    """Return the notes in a folder, of a type, with a tag, and that link to `cites`.

    `cites` is a note, a file or the name of a ghost. Archived notes are left out unless
    `archived` is true. The folders, types and tags are those of the whole bank.
    """
    wanted = list(conditions(tags=[tag] if tag else (), types=type or None))
    wanted += [Condition("in", folder)] if folder else []
    wanted += [Condition("links", cites)] if cites else []
    bank.catch_up()
    with bank.lock:
        written = bank.logs.updates.all()
    start = max(offset, 0)

    def ask(view: View) -> Browsed:
        within = filters.scope(view.manifest, wanted, hidden=archived, written=written)
        live = documents.numbers(view.manifest)
        rows = note_rows.newest(view.manifest, within, start + max(limit, 1), written)
        return Browsed(
            notes=tuple(listed(row) for row in rows[start:]),
            total=sum(1 for number in live if number in within),
            offset=start,
            folders=_folders(view, folder),
            types=documents.counts(view.manifest, "type"),
            tags=dict(list(documents.counts(view.manifest, "tag").items())[:_MOST_TAGS]),
        )

    return bank.read(ask)


def _folders(view: View, inside: str) -> dict[str, int]:
    start = f"{inside.strip('/')}/" if inside.strip("/") else ""
    paths = [
        key[len(start) :] for _, key in documents.all_keys(view.manifest) if key.startswith(start)
    ]
    counts = Counter(path.partition("/")[0] for path in paths if "/" in path)
    return {f"{start}{name}": count for name, count in sorted(counts.items())}
