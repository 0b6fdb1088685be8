"""`memory-bank notes`: list the newest notes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from memory_bank.base.operation import Before, IncludeArchived, Param, Since, Tags, Type, operation
from memory_bank.base.screen import FOUND, NOTHING, Call, cells, cut

if TYPE_CHECKING:
    from memory_bank.memory.show import Listing


_GAP = "  "

_TYPE = 11

_SHORTEST = 12
"""Columns of the shortest cut title; with less room the line is wrapped instead."""


@operation(
    "notes",
    why="""
    Lists notes by the time of their last change, the newest first, one per line: path, date of the
    change, type, title and tags. To find notes by their content, use recall.
    """,
    examples=(
        ("memory-bank notes --since 7d", "changed in the last seven days"),
        ("memory-bank notes --type decision --limit 100", "all decisions"),
        ("memory-bank notes --json | jq -r '.notes[].path'", "for a program"),
    ),
    group="Find",
)
def command(
    call: Call,
    *,
    limit: Annotated[int, Param("Most notes to list; default: 10", metavar="N")] = 10,
    since: Since = None,
    before: Before = None,
    tags: Annotated[Tags, Param("Only notes that have all these tags")] = (),
    kind: Annotated[Type, Param("Only notes of this type")] = None,
    include_archived: IncludeArchived = False,
) -> int:
    """List the notes that changed most recently."""
    from memory_bank.memory import show

    with call.open() as bank:
        found = show.list_notes(
            bank,
            limit,
            tags=tags,
            type=kind,
            since=since,
            before=before,
            include_archived=include_archived,
        )
        call.answer(found, lambda listing: _show(call, listing))
        call.warn(bank.problem)
        call.notices(found.notices)
    if not found.notes and not call.json:
        call.remark("no notes")
    return FOUND if found.notes else NOTHING


def _show(call: Call, listing: Listing) -> None:
    """Print one line per note; on a narrow terminal titles are cut, but never paths."""
    console = call.console
    places = [call.place(note.path, 1) for note in listing.notes]
    wide = max(map(cells, places), default=0)
    for where, note in zip(places, listing.notes, strict=True):
        changed = max(note.created_at, note.updated_at)[:10]
        status = "" if note.status == "active" else f" ({note.status})"
        about = f"{note.type or '-':<{_TYPE}}"
        left = console.columns - wide - len(changed) - len(about) - len(status) - 3 * len(_GAP)
        title, tags = note.title, " ".join(f"#{tag}" for tag in note.tags)
        if console.terminal and left > _SHORTEST:
            title = cut(title, left)
            tags = cut(tags, left - cells(title) - len(_GAP))
        console.line(
            (where, "place"), " " * (wide - cells(where)), _GAP, (changed, "dim"), _GAP, about,
            _GAP, title, (status, "warn"), _GAP if tags else "", (tags, "tag"),
        )  # fmt: skip
