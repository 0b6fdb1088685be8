"""`memory-bank rm`: delete notes."""

from __future__ import annotations

import shlex

from memory_bank.base.operation import IfMatch, Notes, operation
from memory_bank.base.screen import Call


@operation(
    "rm",
    why="""
    Moves notes to the bank's trash, `.memories/.trash/`; restore brings them back. Links to them
    are not changed and lead to ghosts until then. If one of the names is unknown, nothing is
    deleted. Consider archive instead: archived notes are excluded from results, but stay readable.
    """,
    examples=(
        ("memory-bank rm ideas/cache", "move it to the trash"),
        ("memory-bank restore ideas/cache", "restore it"),
    ),
    group="Organise",
)
def command(call: Call, *, names: Notes, if_match: IfMatch = None) -> int:
    """Move notes to the trash; restore brings them back."""
    from memory_bank.memory import trash

    if if_match and len(names) > 1:
        raise call.usage_error("--if-match applies to one note: name only one")
    with call.open() as bank:
        paths = dict.fromkeys(bank.find(name, exactly=True) for name in names)
        done = [trash.delete(bank, path, if_match=if_match) for path in paths]
    if call.json:
        call.document({"deleted": done})
    for trashed in () if call.json else done:
        shown = call.place(trashed.path)
        call.console.line("deleted ", (shown, "place"))
        name = shlex.quote(trashed.path.removesuffix(".md"))
        call.console.line(("  to undo: ", "dim"), f"memory-bank restore {name}")
    return 0
