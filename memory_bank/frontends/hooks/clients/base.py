"""The contract of a client: how its hooks say what happens, and what they read.

A client is a module of this package, named like the client with `_` for `-`. It is imported at each
event, so it imports little.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from memory_bank.actions.capture import HookEvent


class HookClient(Protocol):
    """What a client's module has.

    One whose program does not report all calls of tools also has `unreported(event)`: it is called
    with each end of a turn or session, and yields the calls that the transcript has, as events of
    the kind `tool`. Those that are stored already are recognised by their keys.
    """

    NAME: str
    """The client, such as `claude-code`: the agent of its sessions."""
    EVENTS: Mapping[str, str]
    """The kind of each event that is understood, by the client's name of it."""

    def read(self, event: str, payload: Mapping[str, Any]) -> HookEvent | None:
        """Return an event of `EVENTS` in the common form; None if it is to be ignored."""

    def answer(self, event: str, kind: str, text: str) -> Mapping[str, object] | None:
        """Return the JSON by which the client adds a text to the session, or asks a question.

        The kind is `start` or `prompt` for context, `stop` for a question that continues the turn.
        None if the client can't.
        """

    def tokens(self, transcript: str) -> tuple[int, int]:
        """Return the input and output tokens that a transcript tells; zeros if it doesn't.

        It is called in a process of its own, not while the agent waits. Raises OSError.
        """
