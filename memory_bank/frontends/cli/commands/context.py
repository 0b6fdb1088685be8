"""`memory-bank context`: what an agent is told when its session starts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from memory_bank.base.operation import Param, operation
from memory_bank.frontends.cli.call import Call

if TYPE_CHECKING:
    from memory_bank.sessions.context import Injected


@operation(
    "context",
    why="""
    Prints the latest observations of agents' sessions, the next steps of the last session, and the
    notes that changed since. Hooks tell it to an agent when its session starts. The options replace
    the settings of the section context for this call.
    """,
    examples=(
        ("memory-bank context", "what the next session will be told"),
        ("memory-bank context --type discovery --days 7", "what was found out this week"),
    ),
    group="Sessions",
)
def command(
    call: Call,
    *,
    project: Annotated[str, Param("Only sessions of this project", metavar="NAME")] = "",
    session_id: Annotated[
        str, Param("The session that starts", flags="--session", metavar="ID")
    ] = "",
    types: Annotated[
        tuple[str, ...], Param("Types of observations", flags="--type", metavar="TYPE")
    ] = (),
    concepts: Annotated[
        tuple[str, ...], Param("With one of these", flags="--concept", metavar="WORD")
    ] = (),
    limit: Annotated[int | None, Param("Most observations", metavar="N", least=0)] = None,
    sessions: Annotated[int | None, Param("Most sessions", metavar="N", least=0)] = None,
    days: Annotated[float | None, Param("Days back", metavar="N", least=0)] = None,
    max_tokens: Annotated[int | None, Param("Most tokens of it", metavar="N", least=100)] = None,
) -> int:
    """Print what an agent is told when its session starts."""
    from memory_bank.sessions import context

    with call.open() as bank:
        found = context.inject_context(
            bank,
            project,
            session_id,
            observation_types=types or None,
            concepts=concepts or None,
            observation_limit=limit,
            session_limit=sessions,
            days=days,
            max_tokens=max_tokens,
        )
        call.answer(found, lambda told: _show(call, told))
        call.warn(bank.problem)
    return 0


def _show(call: Call, told: Injected) -> None:
    call.console.block(told.context)
