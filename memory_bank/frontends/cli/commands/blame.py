"""`memory-bank blame`: show where each section of a note comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from memory_bank.base.operation import Note, Param, operation
from memory_bank.base.screen import FOUND, Call
from memory_bank.frontends.cli.origin_view import COLUMNS, cells

if TYPE_CHECKING:
    from memory_bank.trust.provenance import NoteBlame


@operation(
    "blame",
    why="""
    Shows for each section of a note the commit of its least trusted line: its author, agent, pull
    request, and whether it was reviewed. Tiers of trust are reviewed, human, agent, uncommitted.
    """,
    examples=(
        ("memory-bank blame decisions/tantivy", "by section"),
        ("memory-bank blame decisions/tantivy --lines", "by line"),
    ),
    group="Review",
)
def command(
    call: Call,
    *,
    name: Note,
    by_line: Annotated[bool, Param("Show each line", flags="--lines")] = False,
) -> int:
    """Show where each section of a note comes from."""
    from memory_bank.trust import provenance

    with call.open() as bank:
        found = provenance.blame(bank, name, by_line=by_line)
    call.answer(found, lambda shown: _show(call, shown))
    for one in () if call.json else found.limits:
        call.warn(one)
    return FOUND


def _show(call: Call, found: NoteBlame) -> None:
    call.console.line((call.place(found.path), "place"), f"  trust: {found.trust}")
    if found.lines is None:
        rows = [(*cells(one.source), f"{one.line}", one.heading) for one in found.sections]
        call.console.table((*COLUMNS, "line", "section"), rows)
    else:
        rows = [(*cells(one.source), f"{one.line}", one.text) for one in found.lines]
        call.console.table((*COLUMNS, "line", "text"), rows)
