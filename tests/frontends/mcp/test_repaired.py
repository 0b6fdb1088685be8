"""An agent is told what was repaired to answer it: in the structure, and below the quotes."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from memory_bank.bank.bank import open_bank

from .conftest import Agent, Process

SAID = "Repaired: finished a change of several files that was cut short."


def cut_short(project: Path) -> None:
    with open_bank(project) as bank:
        bank.sync()
    (project / ".memories/.trash/.journal-0123456789ab").mkdir(parents=True)


def test_an_answer_says_it_once(serving: Callable[..., Agent], project: Path) -> None:
    cut_short(project)
    agent = serving()
    found = agent("recall", query="tantivy")
    assert found["repaired"] == ["writing"]
    assert found.text.endswith(f"\n{SAID}")
    assert "repaired" not in agent("recall", query="tantivy").fields


def test_a_report_says_it(serving: Callable[..., Agent], project: Path) -> None:
    cut_short(project)
    found = serving("maintenance")("check_memories")
    assert found["repaired"] == ["writing"]
    assert isinstance(found["healthy"], bool)
    assert found.text.count(SAID) == 1


def test_what_was_healed_behind_is_said_by_the_next_answer(
    process: Callable[..., Process], project: Path
) -> None:
    """The background heals before anybody asks; a kill would look the same."""
    cut_short(project)
    server = process("--structured")
    server.greet()
    journal = project / ".memories/.trash/.journal-0123456789ab"
    deadline = time.monotonic() + 60
    while journal.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    found = server.call("get_memory_stats")
    assert found["structuredContent"]["repaired"] == ["writing"]
    assert found["content"][0]["text"].endswith(f"\n{SAID}")
