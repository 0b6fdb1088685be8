"""`memory-bank tags`: list tags with their counts."""

from __future__ import annotations

from memory_bank.base.operation import operation
from memory_bank.base.screen import FOUND, NOTHING, Call


@operation(
    "tags",
    why="""
    Lists every tag with its number of notes, the most used first, for example to find tags that
    mean the same.
    """,
    examples=(
        ("memory-bank tags", "all of them"),
        ("memory-bank recall index --tags search", "then use one"),
    ),
    group="Find",
)
def command(call: Call) -> int:
    """List tags with their number of notes."""
    from memory_bank.memory import show

    with call.open() as bank:
        found = show.tag_counts(bank)
    if call.json:
        call.document({"result_count": len(found), "tags": found})
    elif found:
        call.console.table(("tag", "notes"), [(tag, str(number)) for tag, number in found.items()])
    else:
        call.remark("no tags")
    return FOUND if found else NOTHING
