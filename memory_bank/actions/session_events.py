"""Subscribe to what happens in the sessions of a bank."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memory_bank.bank import Bank
from memory_bank.notes.dates import iso_of
from memory_bank.sessions.notifications import (
    Notification,
    ObservationStored,
    SessionEnded,
    SessionStarted,
    Subscription,
    notification_of,
)
from memory_bank.sessions.queue import EventQueue

__all__ = [
    "Happened", "Notification", "ObservationStored", "SessionEnded", "SessionStarted",
    "Subscription", "follow", "recent", "subscribe",
]  # fmt: skip

_TURN = 0.2
"""Seconds between two looks for notifications."""


@dataclass(frozen=True, slots=True)
class Happened:
    """A notification with its time."""

    event: str
    """`SessionStarted`, `ObservationStored` or `SessionEnded`."""
    session_id: str
    created_at: str
    project: str | None = None
    observation_id: str | None = None
    summary_id: str | None = None


def subscribe(bank: Bank) -> Subscription:
    """Subscribe to the sessions of a bank from now on, in this process and all others.

    The subscription gives SessionStarted for new sessions only, ObservationStored and SessionEnded.
    It is used by one thread; close it in the end.
    """
    return Subscription(_queue(bank))


def follow(
    bank: Bank, notify: Callable[[Sequence[Notification]], None], stop: threading.Event
) -> None:
    """Call `notify` with notifications as they come, until `stop` is set."""
    with subscribe(bank) as subscription:
        while not stop.wait(_TURN):
            if news := subscription.take():
                notify(news)


def recent(bank: Bank, limit: int = 20) -> tuple[Happened, ...]:
    """Return the last things that happened in the sessions of a bank, oldest first."""
    queue = _queue(bank)
    try:
        news = queue.news(max(0, queue.last_news() - limit), limit)
    finally:
        queue.close()
    return tuple(
        Happened(
            found.kind,
            found.session_id,
            iso_of(row.created_at),
            getattr(found, "project", None),
            getattr(found, "observation_id", None),
            getattr(found, "summary_id", None),
        )
        for row in news
        if (found := notification_of(row)) is not None
    )


def _queue(bank: Bank) -> EventQueue:
    return EventQueue(bank.layout.state(bank.id), bank.add_repaired)
