"""`memory-bank import`: import notes from other programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from memory_bank.base.operation import Param, operation
from memory_bank.base.rendering import count
from memory_bank.base.screen import FOUND, NOTHING, Call

if TYPE_CHECKING:
    from memory_bank.memory.import_notes import Imported, ImportedNote


def _summaries() -> dict[str, str]:
    from memory_bank.memory import import_notes

    return import_notes.summaries()


def _kinds(start: str) -> list[str]:
    from memory_bank.memory import import_notes

    return [kind for kind in import_notes.kinds() if kind.startswith(start)]


@operation(
    "import",
    why="""
    Writes a note for each note of the source, with its dates, tags, folders and links; the source
    is not changed. Notes that can't be read are listed with the reason.

    Run it again whenever the source has changed: new notes are added, changed ones are updated,
    and nothing is imported twice. A note that you changed in the bank is never overwritten, but
    listed. The old text of an updated note is moved to the trash.
    """,
    examples=(
        ("memory-bank import markdown docs/adr --into decisions", "decision records"),
        ("memory-bank import markdown ~/vault --dry-run", "show what would be imported"),
        ("memory-bank import mcp-memory ~/.mcp/memory.jsonl", "the MCP memory server's graph"),
    ),
    group="Write",
    allow_secret=True,
    kinds=_summaries,
)
def command(
    call: Call,
    *,
    kind: Annotated[str, Param(argument=True, metavar="KIND", complete=_kinds)],
    path: Annotated[str, Param(argument=True, metavar="PATH", path="any")],
    into: Annotated[str, Param("Write the notes below this folder", metavar="FOLDER")] = "",
    dry_run: Annotated[bool, Param("Show what would be done, but write nothing")] = False,
) -> int:
    """Import notes from another program."""
    from memory_bank.memory import import_notes

    with call.open() as bank:
        done = import_notes.import_notes(bank, kind, path, into=into, dry_run=dry_run)
    call.answer(done, lambda done: _show(call, done))
    return FOUND if done.notes else NOTHING


def _show(call: Call, done: Imported) -> None:
    for note in done.notes:
        if note.action != "unchanged":
            _show_note(call, note, dry_run=done.dry_run)
    for place, reason in done.unread:
        call.console.line("not read: ", (place, "place"), f": {reason}")
    parts = [f"{number} {action.replace('_', ' ')}" for action, number in done.counts.items()]
    if done.unread:
        parts.append(f"{len(done.unread)} not read")
    would = "would be: " if done.dry_run else ""
    call.console.line(f"{count(len(done.notes), 'note')}: {would}{', '.join(parts) or 'nothing'}")


def _show_note(call: Call, note: ImportedNote, *, dry_run: bool) -> None:
    console = call.console
    verb = f"would be {note.action}:" if dry_run else note.action
    if note.action in {"created", "updated"}:
        console.line(f"{verb} ", (call.place(note.path) if note.path else note.key, "place"))
        if note.may_amend:
            console.line("  may amend: ", (call.place(note.may_amend), "place"))
    elif note.action == "same_content":
        console.line("not imported: ", (note.key, "place"), f": {note.path} has the same content")
    else:
        stays = f" ({call.place(note.path)} stays)" if note.path else ""
        console.line("not imported: ", (note.key, "place"), f": {note.reason}{stays}")
