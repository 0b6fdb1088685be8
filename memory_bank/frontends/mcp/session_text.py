"""Compact text of answers about sessions, for agents."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memory_bank.base.text import Quotes
    from memory_bank.sessions.context import Injected
    from memory_bank.sessions.sessions import Ended, Started, StoredObservation


_HEADS = {
    "new": "Started a new session",
    "active": "The session goes on",
    "resumed": "Resumed the session",
}


def started(done: Started, quotes: Quotes) -> str:
    """Say whether a session is new, and its project."""
    about = {"session_id": done.session_id, "project": done.project, "at": done.started_at}
    head = f"{_HEADS[done.state]} (state: {done.state}, prompt_number: {done.prompt_number})."
    return f"{head} {quotes.notice}\n{quotes.quote('', about)}"


def stored(done: StoredObservation, quotes: Quotes) -> str:
    """Say what was stored, and its id."""
    del quotes
    if done.observation_id is not None:
        what = f"Stored the observation (observation_id: {done.observation_id}"
    else:
        what = f"Stored the event, which is compressed later (pending_id: {done.pending_id}"
    return f"{what}, prompt_number: {done.prompt_number})."


def told(found: Injected, quotes: Quotes) -> str:
    """Return a context, which has its own quotes."""
    del quotes
    return found.context


def ended(done: Ended, quotes: Quotes) -> str:
    """Say that a session ended, and the id of its summary."""
    del quotes
    if done.summary_id is None:
        return "Ended the session (summary_id: null): nothing happened in it."
    return f"Ended the session (summary_id: {done.summary_id})."
