"""`memory-bank log`: list the commits that changed a note."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from memory_bank.base.operation import Note, Param, operation
from memory_bank.base.screen import FOUND, NOTHING, Call
from memory_bank.frontends.cli.origin_view import COLUMNS, cells

if TYPE_CHECKING:
    from memory_bank.trust.provenance import NoteLog


@operation(
    "log",
    why="""
    Lists the commits that changed a note, the newest first, under its former names too: who wrote
    each, with which agent, the pull request that brought it, whether it was reviewed, and the
    sections that it changed. All of it is from git and this machine's record, not from the note.
    """,
    examples=(
        ("memory-bank log decisions/tantivy", "who wrote it"),
        ("memory-bank log tantivy --json | jq '.commits[].source.pull_request'", "for a program"),
    ),
    group="Review",
)
def command(
    call: Call,
    *,
    name: Note,
    limit: Annotated[int, Param("Most commits; default: 50", metavar="N")] = 50,
) -> int:
    """List the commits that changed a note."""
    from memory_bank.trust import provenance

    with call.open() as bank:
        found = provenance.log(bank, name, limit)
    call.answer(found, lambda shown: _show(call, shown))
    for one in () if call.json else found.limits:
        call.warn(one)
    return FOUND if found.commits or found.uncommitted else NOTHING


def _show(call: Call, found: NoteLog) -> None:
    call.console.line((call.place(found.path), "place"), f"  trust: {found.trust}")
    if found.uncommitted:
        by = f" by {found.uncommitted_agent}" if found.uncommitted_agent else ""
        call.console.line(f"changes{by} that are not committed")
    rows = []
    for one in found.commits:
        where = ", ".join(one.sections or ())
        change = f"renamed from {one.old_path}" if one.old_path else one.change
        rows.append((*cells(one.source), change, where, one.source.subject))
    if rows:
        call.console.table((*COLUMNS, "change", "sections", "subject"), rows)
