"""The repositories in which agents' programs are measured."""

from pathlib import Path

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


def test_without_the_programs_nothing_is_measured(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tests.agents.hooks.programs.program.CACHE", tmp_path)
    agent_rules.main(["--only", "gemini"])
    assert capsys.readouterr().out == "gemini: not there\n"
