"""`memory-bank session`: list, show, start and end the sessions of agents."""

from __future__ import annotations

from typing import Annotated

from memory_bank.base.operation import Param, operation
from memory_bank.base.screen import FOUND, NOTHING, Call
from memory_bank.frontends.cli.session_view import (
    show_import,
)


@operation(
    "session import",
    why="""
    Makes sessions of the transcripts that agents' programs keep on this machine and that were begun
    in this project or a work tree of it. Sessions keep their times. Run it again at any time:
    nothing is imported twice, also not what hooks reported, and sessions that have grown are
    continued. Secrets and private spans are redacted.
    """,
    examples=(
        ("memory-bank session import --dry-run", "show what would be imported"),
        ("memory-bank session import --client codex --since 30d", "of one program"),
    ),
)
def _import(
    call: Call,
    *,
    client: Annotated[
        str | None, Param("One program: claude-code, codex or gemini", metavar="NAME")
    ] = None,
    path: Annotated[
        str | None, Param("A file or folder with transcripts of the client", path="any")
    ] = None,
    since: Annotated[
        str | None, Param("Only sessions that went on since: 30d, 2026-05-08", metavar="WHEN")
    ] = None,
    dry_run: Annotated[bool, Param("Show what would be done, but write nothing")] = False,
) -> int:
    """Make sessions of the transcripts of agents' programs."""
    from memory_bank.agents import transcripts

    with call.open() as bank:
        done = transcripts.import_sessions(
            bank, client, path=path, since=since, dry_run=dry_run, progress=call.progress
        )
        call.answer(done, lambda one: show_import(call, one))
    return FOUND if done.sessions else NOTHING
