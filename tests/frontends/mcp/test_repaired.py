"""An agent is told what was repaired to answer it: in the structure, and below the quotes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from memory_bank.bank.bank import open_bank

from .conftest import Agent

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
