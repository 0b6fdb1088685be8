"""Do what remains after a hook, in a process that no agent waits for."""

from __future__ import annotations

from contextlib import suppress

from memory_bank.bank.bank import Bank, open_bank
from memory_bank.base.errors import BadInput
from memory_bank.sessions.compress import compress
from memory_bank.sessions.queue import EventQueue
from memory_bank.sessions.sessions import end_killed, end_session

_WAIT = 20.0
"""Seconds to wait for another process that compresses: events it leaves keep a session open."""


def run(root: str, session_id: str, kind: str, tokens: tuple[int, int]) -> list[str]:
    """Store a session's tokens, compress what waits, and end the session at its end.

    At the start of a session, what others have left is compressed too, and those whose programs
    were killed are ended. Events that the client's model is to compress wait for the session's end.
    Returns problems. Raises MemoryBankError.
    """
    with open_bank(root) as bank:
        _count(bank, session_id, tokens)
        if kind == "end":
            with suppress(BadInput):  # nothing of it was stored
                end_session(bank, session_id)
            return []
        if kind == "compact" or (kind != "start" and bank.settings.compression.mode == "client"):
            return []  # the turn goes on; or the client's server, which can ask its model, does it
        if kind != "start":
            return compress(bank, session_id).problems
        return [*compress(bank, wait=_WAIT).problems, *end_killed(bank, session_id)]


def _count(bank: Bank, session_id: str, tokens: tuple[int, int]) -> None:
    if not any(tokens):
        return
    queue = EventQueue(bank.layout.state(bank.id))
    try:
        with suppress(BadInput):  # nothing of it was stored
            queue.update(session_id, input_tokens=tokens[0], output_tokens=tokens[1])
    finally:
        queue.close()
