from __future__ import annotations

import os
from pathlib import Path

import pytest

from .conftest import Run, plain_text


def test_it_makes_a_bank_and_names_the_next_command(
    mb: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    monkeypatch.chdir(fresh)
    answer = mb("init")
    assert answer.code == 0
    assert answer.out.splitlines()[0] == "created .memories"
    assert "next: memory-bank remember" in answer.out
    assert (fresh / ".memories/config.toml").is_file()
    again = mb("init")
    assert (again.code, again.out.splitlines()[0]) == (0, "already exists: .memories")
    assert mb("init", "--json").json["created"] == []


def test_in_another_folder_the_next_command_names_the_bank(mb: Run, tmp_path: Path) -> None:
    answer = mb("init", str(tmp_path / "my project"))
    assert f"--bank '{os.path.relpath(tmp_path / 'my project' / '.memories')}'" in answer.out


def test_a_bank_of_ones_own(mb: Run) -> None:
    made = mb("init", "--user", "recipes", "--json").json["bank"]
    assert Path(made).parts[-2:] == ("memory-bank", "recipes")
    assert mb("--bank", made, "remember", "Bread wants time").code == 0
    assert mb("recall", "bread", "--bank", made).code == 0


def test_a_folder_and_a_name_do_not_go_together(mb: Run, tmp_path: Path) -> None:
    assert mb("init", str(tmp_path), "--user", "x").code == 2
    assert mb("init", "--user", "../x").code == 2


def test_inside_a_project_with_a_bank_it_asks_or_needs_an_option(
    mb: Run, terminal: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "sub").mkdir()
    assert mb("init", "sub").code == 2
    monkeypatch.chdir(project / "sub")
    refused = mb("init", "--json")
    assert refused.error["message"].endswith("has a bank already: ../.memories")
    assert "--here" in refused.error["hint"]
    answer = terminal("init", "sub", keys="n\n")
    assert "Make another bank here?" in answer.out
    assert answer.code == 130
    assert not (project / "sub/.memories").exists()
    assert terminal("init", "sub", keys="y\n").code == 0
    assert (project / "sub/.memories").is_dir()
    (project / "other").mkdir()
    assert mb("init", str(project / "other"), "--here").code == 0


def test_what_is_there_may_be_included(mb: Run, terminal: Run, project: Path) -> None:
    (project / "docs/adr").mkdir(parents=True)
    (project / "docs/adr/1.md").write_text("# A\n")
    (project / "CLAUDE.md").write_text("x\n")
    told = mb("init").err
    assert "memory-bank init --include CLAUDE.md --include docs/adr" in told
    assert 'below [memory]: include = ["CLAUDE.md", "docs/adr"]' in told
    answer = plain_text(terminal("init", keys="n\ny\n").out)
    assert "Find CLAUDE.md as notes, too? They are only read. [Y/n]: " in answer
    assert "Find docs/adr (1 Markdown file) as notes, too?" in answer
    assert answer.count("includes") == 1
    found = mb("init", "--json", "--include", "CLAUDE.md").json
    assert (found["included"], found["found"]) == (["docs/adr", "CLAUDE.md"], [])
    assert mb("init", "--include", "../x").code == 2
