"""Subscribe to what happens in the sessions of a bank, in this process or another."""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence

from memory_bank.bank.bank import Bank
from memory_bank.base import Closable
from memory_bank.base.dates import seconds_to_iso
from memory_bank.sessions.answers import SessionStep
from memory_bank.sessions.queue import OBSERVATION_STORED, SESSION_ENDED, EventQueue
from memory_bank.sessions.queue_rows import MOST_NEWS, SESSION_STARTED, Row

HELD = 1024
"""Most notifications that wait for a subscriber."""

_PAUSE = 0.2
"""Seconds between two looks at the database, where other processes announce."""


KINDS = (SESSION_STARTED, OBSERVATION_STORED, SESSION_ENDED)


def _read_events(news: Iterable[Row]) -> Iterator[SessionStep]:
    """Yield what rows of the database say; those of another version are left out."""
    for _, kind, session_id, text, created_at in news:
        if kind in KINDS:
            payload = json.loads(text)
            yield SessionStep(
                session_id=session_id,
                event=kind,
                created_at=seconds_to_iso(created_at),
                project=payload.get("project") or "",
                observation_id=payload.get("observation_id"),
                summary_id=payload.get("summary_id"),
            )


class Subscription(Closable):
    """The notifications since it was made, from all processes, oldest first.

    At most 1,024 wait: of more, the oldest are dropped, and `dropped` counts them. A sender
    never waits for a subscriber. A subscription is used by one thread.
    """

    def __init__(self, queue: EventQueue) -> None:
        """Begin now; the queue is closed with the subscription."""
        self._queue = queue
        self._last = queue.last_news()
        self._waiting: deque[SessionStep] = deque(maxlen=HELD)
        self.dropped = 0
        """Number of notifications that were lost, because nobody took them in time."""

    def close(self) -> None:
        """End the subscription."""
        self._queue.close()

    def __iter__(self) -> Iterator[SessionStep]:
        """Wait for each next notification, without end."""
        while True:
            happened = self.get()
            if happened is not None:
                yield happened

    def get(self, timeout: float | None = None) -> SessionStep | None:
        """Return the next notification; None if there is none within `timeout` seconds."""
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            self._fetch()
            if self._waiting:
                return self._waiting.popleft()
            pause = _PAUSE if end is None else min(_PAUSE, end - time.monotonic())
            if pause <= 0:
                return None
            time.sleep(pause)

    def take(self) -> list[SessionStep]:
        """Return all notifications that wait, without waiting for more."""
        self._fetch()
        events = list(self._waiting)
        self._waiting.clear()
        return events

    def _fetch(self) -> None:
        rows = self._queue.news(self._last, MOST_NEWS)
        if not rows:
            return
        if len(rows) == MOST_NEWS:  # the database keeps no more
            self.dropped += rows[0][0] - self._last - 1
        for happened in _read_events(rows):
            self.dropped += len(self._waiting) == HELD
            self._waiting.append(happened)
        self._last = rows[-1][0]


_TURN = 0.2
"""Seconds between two looks for notifications."""


def subscribe(bank: Bank) -> Subscription:
    """Subscribe to the sessions of a bank from now on, in this process and all others.

    The subscription gives SessionStarted for new sessions only, ObservationStored and SessionEnded.
    It is used by one thread; close it in the end.
    """
    return Subscription(_queue(bank))


def follow(
    bank: Bank, notify: Callable[[Sequence[SessionStep]], None], stop: threading.Event
) -> None:
    """Call `notify` with notifications as they come, until `stop` is set."""
    with subscribe(bank) as subscription:
        while not stop.wait(_TURN):
            if news := subscription.take():
                notify(news)


def recent_news(bank: Bank, limit: int = 20) -> tuple[SessionStep, ...]:
    """Return the last things that happened in the sessions of a bank, oldest first."""
    queue = _queue(bank)
    try:
        return tuple(_read_events(queue.news(max(0, queue.last_news() - limit), limit)))
    finally:
        queue.close()


def _queue(bank: Bank) -> EventQueue:
    return EventQueue(bank.layout.state(bank.id), bank.add_repaired)
