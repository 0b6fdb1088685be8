"""Subscriptions: what happened in any process, in order, and how much was lost."""

import subprocess
import sys

from memory_bank.bank.bank import Bank
from memory_bank.sessions.answers import SessionStep
from memory_bank.sessions.events import HELD, subscribe
from memory_bank.sessions.sessions import (
    end_session,
    start_session,
    store_observation,
    store_prompt,
)
from memory_bank.sessions.state import open_store


def told(one: SessionStep | None) -> tuple[str | None, ...]:
    """Return what happened, in which session, and to what."""
    assert one is not None
    return one.event, one.session_id, one.project or one.observation_id or one.summary_id


def test_subscribers_are_told_of_new_sessions_observations_and_ends(bank: Bank) -> None:
    start_session(bank, "before", "shop")
    with subscribe(bank) as first, subscribe(bank) as second:
        start_session(bank, "s-1", "shop")
        start_session(bank, "s-1", "shop")
        stored = store_observation(bank, "s-1", title="Retry")
        store_observation(bank, "s-1", title="Retry")
        summary_id = end_session(bank, "s-1")
        assert end_session(bank, "s-1") == summary_id
        start_session(bank, "s-1")
        start_session(bank, "empty", "shop")
        end_session(bank, "empty")
        end_session(bank, "empty")
        expected = [
            ("SessionStarted", "s-1", "shop"),
            ("ObservationStored", "s-1", stored.observation_id),
            ("SessionEnded", "s-1", summary_id),
            ("SessionStarted", "empty", "shop"),
            ("SessionEnded", "empty", None),
        ]
        assert [told(one) for one in first.take()] == expected
        assert [told(second.get(0)) for _ in expected] == expected
        assert second.get(0) is None
        assert first.dropped == second.dropped == 0


def test_a_slow_subscriber_loses_the_oldest_and_is_told(bank: Bank) -> None:
    with subscribe(bank) as slow, open_store(bank) as store:
        start_session(bank, "s-1", "shop")
        for number in range(HELD + 9):
            store.queue.announce("ObservationStored", "s-1", observation_id=f"obs-{number:06}")
        found = slow.take()
        assert len(found) == HELD
        assert told(found[-1]) == ("ObservationStored", "s-1", f"obs-{HELD + 8:06}")
        assert slow.dropped == 10


def test_another_process_is_heard(bank: Bank) -> None:
    code = (
        "import sys, memory_bank as m\n"
        "with m.open_bank(sys.argv[1]) as bank: m.store_prompt(bank, 'other', 'Hello')"
    )
    with subscribe(bank) as subscription:
        child = [sys.executable, "-c", code, str(bank.layout.root)]
        subprocess.run(child, check=True)
        assert told(subscription.get(60)) == ("SessionStarted", "other", "project")
        store_prompt(bank, "other", "Again")
        assert subscription.get(0) is None
