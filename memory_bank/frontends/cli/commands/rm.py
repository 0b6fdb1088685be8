"""`memory-bank rm`: delete notes."""

from __future__ import annotations

import shlex

from memory_bank import actions
from memory_bank.frontends.cli import options
from memory_bank.frontends.cli.call import Call
from memory_bank.frontends.cli.command import as_command

GROUP = "Organise"


@as_command(
    "rm",
    why="""
    Moves notes to the bank's trash, `.memories/.trash/`, from where restore brings them back.
    Links to them stay as they are and lead to ghosts until then. If one of the names is unknown,
    nothing is deleted. Consider archive: an archived note stays readable and out of the way.
    """,
    examples=(
        ("memory-bank rm ideas/cache", "into the trash"),
        ("memory-bank restore ideas/cache", "and back"),
    ),
)
@options.notes()
@options.if_match
def command(call: Call, *, names: tuple[str, ...], if_match: str | None) -> int:
    """Delete notes; restore brings them back."""
    if if_match and len(names) > 1:
        raise call.wrong("--if-match is the version of one note: name just one")
    with call.open() as bank:
        paths = dict.fromkeys(bank.find(name) for name in names)
        done = [actions.move_and_merge.delete(bank, path, if_match=if_match) for path in paths]
    if call.json:
        call.document({"deleted": done})
    for trashed in () if call.json else done:
        shown = call.place(trashed.path)
        call.page.line("deleted ", (shown, "place"))
        name = shlex.quote(trashed.path.removesuffix(".md"))
        call.page.line(("  back with: ", "dim"), f"memory-bank restore {name}")
    return 0
