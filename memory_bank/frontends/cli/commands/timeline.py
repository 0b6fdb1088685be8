"""`memory-bank timeline`: list what happened before and after an observation."""

from __future__ import annotations

import click

from memory_bank.frontends.cli import shell_completion
from memory_bank.frontends.cli.call import FOUND, Call
from memory_bank.frontends.cli.command import as_command

GROUP = "Sessions"


@as_command(
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
)
@click.argument(
    "anchor", required=False, metavar="[ID]", shell_complete=shell_completion.observations
)
@click.option("--query", metavar="WORDS", help="Take the best observation for these words")
@click.option("--depth-before", metavar="N", type=int, default=3, help="Lines before; default: 3")
@click.option("--depth-after", metavar="N", type=int, default=3, help="Lines after; default: 3")
@click.option("--project", metavar="NAME", help="Only of this project")
def command(
    call: Call,
    *,
    anchor: str | None,
    query: str | None,
    depth_before: int,
    depth_after: int,
    project: str | None,
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
