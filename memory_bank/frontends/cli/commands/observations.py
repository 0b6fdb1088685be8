"""`memory-bank observations`: show observations, sessions and notes whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memory_bank.frontends.cli import options, shell_completion
from memory_bank.frontends.cli.call import FOUND, NOTHING, Call
from memory_bank.frontends.cli.command import as_command

if TYPE_CHECKING:
    from memory_bank.sessions.get_observations import Order


GROUP = "Sessions"

ORDERS = ("date_desc", "date_asc")


@as_command(
    "observations",
    why="""
    Shows all that is known of some IDs that search returned: of an observation its facts, files and
    text, of a session its summary, prompts and observations, of a note or section its text. IDs
    that name nothing are told on stderr.
    """,
    examples=(
        ("memory-bank observations obs-3f2a9c1b7d04 obs-91c0de553a21", "two of them"),
        ("memory-bank observations obs-3f2a9c1b7d04 --json", "with every field"),
    ),
)
@click.argument(
    "ids", nargs=-1, required=True, metavar="ID...", shell_complete=shell_completion.observations
)
@click.option("--order-by", type=click.Choice(ORDERS), metavar="ORDER", help=", ".join(ORDERS))
@options.limit(None, "Most that are shown")
@click.option("--project", metavar="NAME", help="Only of this project")
def command(
    call: Call,
    *,
    ids: tuple[str, ...],
    order_by: Order | None,
    limit: int | None,
    project: str | None,
) -> int:
    """Show observations, sessions and notes by id."""
    from memory_bank.frontends.cli.index_view import show_details  # start-up: help needs no view
    from memory_bank.sessions import get_observations

    with call.open() as bank:
        found = get_observations.get_observations(bank, ids, order_by, limit, project)
        call.answer(found, lambda found: show_details(call, found.observations))
    call.warn(found.problem)
    if found.missing and not call.json:
        call.remark(f"not found: {', '.join(found.missing)}")
    return FOUND if found.observations else NOTHING
