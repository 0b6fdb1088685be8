"""The private state of an earlier version is read on: it can't be made again.

`former_state.json` is what the commit 0f2c3e6 had written: accesses of a note, a session that ended,
and one that goes on with an event that waits.
"""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank
from memory_bank.memory.show import show
from memory_bank.sessions.compress import compress
from memory_bank.sessions.listing import list_sessions
from memory_bank.sessions.observations import search_observations
from tests.support.files import write_files

STATE = json.loads(Path(__file__).with_name("former_state.json").read_text(encoding="utf-8"))

OSPREYS = "---\nid: b3aabdf6ae2d\n---\n# Ospreys\n\nOspreys dive for fish.\n"


@pytest.fixture
def bank(project: Path, opening: Callable[..., Bank]) -> Bank:
    """Open a bank on this machine whose state was written by an earlier version."""
    (project / ".memories/ospreys.md").write_text(OSPREYS)
    opened = opening(project)
    state = opened.layout.state(opened.id)
    state.mkdir(parents=True, exist_ok=True)
    for name, statements in STATE["databases"].items():
        (state / name).unlink(missing_ok=True)
        with closing(sqlite3.connect(state / name)) as base:
            base.executescript("\n".join(statements))
    write_files(state, STATE["files"])
    opened.close()
    return opening(project)


def test_accesses_are_still_counted(bank: Bank) -> None:
    assert show(bank, "ospreys").access_count == 5


def test_sessions_and_their_observations_are_still_there(bank: Bank) -> None:
    found = {one.session_id: one for one in list_sessions(bank).sessions}
    assert found.keys() == {"s-one", "s-two"}
    assert found["s-one"].ended_at
    assert not found["s-two"].ended_at
    titles = [one.title for one in search_observations(bank, "").results]
    assert any("a.txt" in title for title in titles)


def test_an_event_that_waits_still_becomes_an_observation(bank: Bank) -> None:
    assert len(compress(bank).observations) == 1
    titles = [one.title for one in search_observations(bank, "").results]
    assert any("egret.txt" in title for title in titles)
