"""The repositories in which agents' programs are measured, and the stand-in for the model."""

from __future__ import annotations

import json
from pathlib import Path

import httpx2
import pytest

from tests.benchmarks import agent_rules


def test_a_repository_has_its_rules_in_the_block_and_loses_every_byte(tmp_path: Path) -> None:
    tasks = agent_rules.make(tmp_path, 0)  # it asserts that taking out leaves nothing
    assert len(tasks) == 20
    assert len(list((tmp_path / ".memories/rules").glob("*.md"))) == 100
    block = (tmp_path / "AGENTS.md").read_text()
    assert [one.demand for one in tasks if one.demand not in block] == []
    assert len(block.encode()) <= 4096
    assert agent_rules.git(tmp_path, "status", "--short") == ""


def test_the_stand_in_answers_and_keeps_what_it_was_asked() -> None:
    with agent_rules.answering() as model:
        for path in ("/v1/messages", "/v1/responses", "/v1/chat/completions", "/x:generateContent"):
            answer = httpx2.post(f"{model.url}{path}", json={"asked": path})
            assert agent_rules.ANSWER in answer.text
        assert [json.loads(one)["asked"] for one in model.asked][1] == "/v1/responses"


def test_without_the_programs_nothing_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    agent_rules.main([])
    assert "nothing is measured" in capsys.readouterr().out
