from __future__ import annotations

import os
from pathlib import Path

import pytest

from .conftest import Run


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
