"""`memory-bank observations`: show observations, sessions and notes whole."""

from __future__ import annotations

from typing import Annotated, Literal

from memory_bank.base.operation import Limit, Param, operation
from memory_bank.frontends.cli.call import FOUND, NOTHING, Call

ORDERS = ("date_desc", "date_asc")


@operation(
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
    group="Sessions",
)
def command(
    call: Call,
    *,
    ids: Annotated[tuple[str, ...], Param(argument=True, metavar="ID...", complete="observations")],
    order_by: Annotated[
        Literal["date_desc", "date_asc"] | None, Param("date_desc, date_asc", metavar="ORDER")
    ] = None,
    limit: Annotated[Limit, Param("Most that are shown")] = None,
    project: Annotated[str | None, Param("Only of this project", metavar="NAME")] = None,
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
