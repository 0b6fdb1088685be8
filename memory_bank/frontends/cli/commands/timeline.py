"""`memory-bank timeline`: list what happened before and after an observation."""

from __future__ import annotations

from typing import Annotated

from memory_bank.base.operation import Param, operation
from memory_bank.frontends.cli.call import FOUND, Call


@operation(
    "timeline",
    why="""
    Lists the observations and sessions just before and after an ID that search returned, in the
    order of time; the line of the ID is marked. Around a note, notes are listed too. With --query
    instead of an ID, the best observation or session for it is taken.
    """,
    examples=(
        ("memory-bank timeline obs-3f2a9c1b7d04", "three before, three after"),
        ("memory-bank timeline --query 'retry payments' --depth-after 10", "what came of it"),
        ("memory-bank timeline obs-3f2a9c1b7d04 --json | jq -r '.after[].id'", "for a program"),
    ),
    group="Sessions",
)
def command(
    call: Call,
    *,
    anchor: Annotated[
        str | None, Param(argument=True, metavar="[ID]", complete="observations")
    ] = None,
    query: Annotated[
        str | None, Param("Take the best observation for these words", metavar="WORDS")
    ] = None,
    depth_before: Annotated[int, Param("Lines before; default: 3", metavar="N")] = 3,
    depth_after: Annotated[int, Param("Lines after; default: 3", metavar="N")] = 3,
    project: Annotated[str | None, Param("Only of this project", metavar="NAME")] = None,
) -> int:
    """List what happened before and after an observation."""
    from memory_bank.frontends.cli.index_view import show_index  # start-up: help needs no view
    from memory_bank.sessions import timeline

    with call.open() as bank:
        found = timeline.timeline(bank, anchor, query, depth_before, depth_after, project)
        rows = (*reversed(found.before), found.anchor, *found.after)
        call.answer(found, lambda found: show_index(call, rows, marked=found.anchor_id))
    call.warn(found.problem)
    return FOUND
