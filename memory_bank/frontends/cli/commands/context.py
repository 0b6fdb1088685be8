"""`memory-bank context`: what an agent is told when its session starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memory_bank.frontends.cli.call import Call
from memory_bank.frontends.cli.command import as_command

if TYPE_CHECKING:
    from memory_bank.sessions.context import Injected


GROUP = "Sessions"


@as_command(
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
)
@click.option("--project", default="", metavar="NAME", help="Only sessions of this project")
@click.option("--session", "session_id", default="", metavar="ID", help="The session that starts")
@click.option("--type", "types", multiple=True, metavar="TYPE", help="Types of observations")
@click.option("--concept", "concepts", multiple=True, metavar="WORD", help="With one of these")
@click.option("--limit", type=click.IntRange(0), metavar="N", help="Most observations")
@click.option("--sessions", type=click.IntRange(0), metavar="N", help="Most sessions")
@click.option("--days", type=click.FloatRange(0), metavar="N", help="Days back")
@click.option("--max-tokens", type=click.IntRange(100), metavar="N", help="Most tokens of it")
def command(
    call: Call,
    *,
    project: str,
    session_id: str,
    types: tuple[str, ...],
    concepts: tuple[str, ...],
    limit: int | None,
    sessions: int | None,
    days: float | None,
    max_tokens: int | None,
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
