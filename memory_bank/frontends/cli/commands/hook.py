"""`memory-bank hook`: what agents' programs start; `__main__` answers it without this module."""

from __future__ import annotations

from typing import Annotated

from memory_bank.base.operation import Param, operation
from memory_bank.base.screen import Call


@operation(
    "hook",
    why="""
    Programs such as Claude Code start it for each event of a session, with the event as JSON on
    stdin. It stores prompts and the use of tools in this
    machine's private state, without secrets and without what stands in <private>…</private>, and
    adds what the project's memory knows to the start of a session and to a prompt.

    Exits with 0 whatever happens, so that it never stops an agent: `memory-bank doctor` says what
    failed. Without a bank, or where the settings memory.enabled or sessions.capture are false, it
    does nothing.
    """,
    examples=(("memory-bank hook claude-code Stop < event.json", "answer one event"),),
    group="Agents",
)
def command(
    call: Call,  # noqa: ARG001  (a hook prints for itself)
    *,
    client: Annotated[str, Param(argument=True)],
    event: Annotated[str, Param(argument=True)] = "",
) -> int:
    """Answer one event of an agent's program."""
    from memory_bank.agents.hook import run  # start-up: help loads each command

    return run([client, event])
