"""`memory-bank tags`: count tags."""

from __future__ import annotations

from memory_bank import actions
from memory_bank.frontends.cli.call import FOUND, NOTHING, Call
from memory_bank.frontends.cli.command import as_command

GROUP = "Find"


@as_command(
    "tags",
    why="""
    Lists every tag with the number of notes that have it, the most used first: to find out what
    there is, and which tags mean the same.
    """,
    examples=(
        ("memory-bank tags", "all of them"),
        ("memory-bank recall index --tags search", "then use one"),
    ),
)
def command(call: Call) -> int:
    """Count the notes of each tag."""
    with call.open() as bank:
        found = actions.listing.tag_counts(bank)
    if call.json:
        call.document({"result_count": len(found), "tags": found})
    elif found:
        call.page.table(("tag", "notes"), [(tag, str(number)) for tag, number in found.items()])
    else:
        call.remark("no tags")
    return FOUND if found else NOTHING
