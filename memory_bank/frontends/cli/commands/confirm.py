"""`memory-bank confirm`: say that notes are still right."""

from __future__ import annotations

from memory_bank.base.operation import Agent, IfMatch, Notes, operation
from memory_bank.base.screen import FOUND, Call


@operation(
    "confirm",
    why="""
    Writes `verified_commit: COMMIT` into the front matter of notes, with the commit that is checked
    out: their text is right for the code of this commit. No other line changes. The citations of
    these notes are then stale only if the code changes again. Commit the notes with the code.
    """,
    examples=(
        ("memory-bank confirm facts/queue", "a note that is still right"),
        ("memory-bank stale --json | jq -r '.citations[].path' | xargs memory-bank confirm", "all"),
    ),
    group="Review",
)
def command(call: Call, *, names: Notes, if_match: IfMatch = None, agent: Agent = None) -> int:
    """Say that notes are right for the current code."""
    from memory_bank.memory import confirm

    if if_match and len(names) > 1:
        raise call.usage_error("--if-match is for one note")
    with call.open() as bank:
        done = confirm.confirm(bank, names, if_match=if_match, agent=agent)
    if call.json:
        call.document(done)
    for note in () if call.json else done.notes:
        verb = "confirmed" if note.changed else "unchanged"
        place = (call.place(note.path), "place")
        call.console.line(f"{verb} ", place, f" as of {done.commit[:12]}")
        call.warn(note.warning)
    return FOUND
