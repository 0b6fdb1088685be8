"""Banks with a name: any folder of Markdown files is one, in any working directory."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from memory_bank.base.settings import user_file

from .conftest import Run


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "my vault"
    folder.mkdir()
    (folder / "bread.md").write_text("# Bread\n\nSourdough wants time.\n")
    return folder


@pytest.fixture
def settings() -> Path:
    file = user_file(os.environ)
    file.parent.mkdir(parents=True)
    file.write_text("# mine\n[search]\nlimit = 4 # few\n")
    return file


def test_a_folder_is_named_used_and_forgotten(
    mb: Run, vault: Path, settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing = mb("banks")
    assert (nothing.code, nothing.out) == (1, "")
    assert mb("banks", "--json").json == {"result_count": 0, "banks": [], "agents": []}
    assert mb("banks", "add", "vault", str(vault)).out.startswith("added vault: ")
    text = settings.read_text()
    assert text == f'# mine\n[search]\nlimit = 4 # few\n\n[banks]\nvault = "{vault}"\n'
    assert not list(vault.glob(".*"))
    assert "Sourdough wants time." in mb("recall", "sourdough", "--bank", "vault").out
    assert mb("--bank", "vault", "remember", "Rye", "--name", "rye").code == 0
    assert (vault / "rye.md").is_file()
    monkeypatch.setenv("MEMORY_BANK", "vault")
    assert {note["path"] for note in mb("notes", "--json").json["notes"]} == {"rye.md", "bread.md"}
    monkeypatch.delenv("MEMORY_BANK")
    own = mb("init", "--user", "recipes")
    assert 'next: memory-bank --bank recipes remember "' in own.out
    assert mb("remember", "x", "--bank", "recipes").code == 0
    made = mb("init", "--user", "recipes", "--json").json["bank"]
    listed = {"name": "vault", "path": str(vault), "own": False, "exists": True}
    mine = {"name": "recipes", "path": made, "own": True, "exists": True}
    assert mb("banks", "list", "--json").json["banks"] == [mine, listed]
    for name in ("moved", "again"):
        vault.rename(vault.with_name(name))
        assert "missing" in mb("banks").out
        assert mb("recall", "x", "--bank", "vault").code == 2
        vault.with_name(name).rename(vault)
    assert mb("banks", "remove", "vault").out.startswith("removed the name vault; the folder stays")
    assert settings.read_text().endswith("[banks]\n")
    assert (vault / "rye.md").is_file()


def test_a_name_precedes_a_folder_of_the_working_directory(
    mb: Run, vault: Path, project: Path
) -> None:
    mb("banks", "add", "docs", str(vault))
    (project / "docs").mkdir()
    (project / "docs/a.md").write_text("theirs\n")
    paths = [note["path"] for note in mb("notes", "--bank", "docs", "--json").json["notes"]]
    assert paths == ["bread.md"]
    paths = [note["path"] for note in mb("notes", "--bank", "./docs", "--json").json["notes"]]
    assert paths == ["a.md"]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("add", "a/b", "."), "can't name a bank"),
        (("add", "-x", "."), ""),
        (("add", "other", "no/such/folder"), "is not a folder"),
        (("add", "vault", "."), "is the name of another bank"),
        (("add", "recipes", "."), "is the name of another bank"),
        (("remove", "nobody"), "there is no bank 'nobody'"),
        (("remove", "recipes"), "it is a bank of your own"),
    ],
)
def test_wrong_names_are_refused(mb: Run, vault: Path, words: tuple[str, ...], reason: str) -> None:
    mb("banks", "add", "vault", str(vault))
    assert mb("banks", "add", "vault", str(vault)).code == 0
    mb("init", "--user", "recipes")
    before = user_file(os.environ).read_text()
    answer = mb("banks", *words)
    assert answer.code == 2
    assert reason in answer.err
    assert user_file(os.environ).read_text() == before
    assert mb("init", "--user", "vault").code == 2


@pytest.mark.parametrize(
    "text", ["[banks\n", "banks = 1\n", '[banks]\na = "b"\n', "[banks]\na = 1\n"]
)
def test_settings_that_can_not_be_read_are_an_error(mb: Run, settings: Path, text: str) -> None:
    settings.write_text(text)
    for words in (("banks",), ("banks", "add", "x", "."), ("notes", "--bank", "x")):
        answer = mb(*words, "--json")
        assert (answer.code, answer.error["code"]) == (2, "bad_setting")
        assert answer.error["hint"]
    assert settings.read_text() == text


def test_a_project_names_no_bank(mb: Run, project: Path, vault: Path) -> None:
    (project / ".memories/config.toml").write_text(f'[banks]\nx = "{vault}"\n')
    assert "banks may not be set by a project" in mb("notes").err
    assert mb("notes", "--bank", "x").code == 2


def test_an_agent_is_given_the_folder(
    mb: Run, vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    mb("banks", "add", "vault", str(vault))
    words = ("--client", "claude-code", "--bank", "vault", "--name", "vault")
    answer = mb("mcp", "install", *words, "--yes", "--json").json
    assert answer["scope"] == "user"
    entry = json.loads(Path(answer["file"]).read_text())["mcpServers"]["vault"]
    assert entry["args"][-4:] == ["serve", "mcp", "--bank", str(vault)]
    assert mb("mcp", "uninstall", *words, "--yes").code == 0
