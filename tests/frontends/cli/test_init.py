"""`init`: what is found, offered, written and undone."""

import os
from pathlib import Path

import pytest

from tests.support.files import read_files, write_files

from .conftest import Run, plain_text


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
    assert terminal("init", "sub", keys="y\nn\n").code == 0
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
    answer = plain_text(terminal("init", "--no-agents", keys="n\n").out)
    assert "CLAUDE.md  instructions for agents" in answer
    assert "docs/adr  decision records, 1 Markdown file" in answer
    assert "includes" not in answer
    assert mb("init", "--json", "--include", "docs/adr").json["included"] == ["docs/adr"]
    answer = plain_text(terminal("init", "--no-agents", keys="\n").out)
    assert answer.count("[Y/n]") == 1
    assert "includes CLAUDE.md" in answer
    assert mb("init", "--include", "../x").code == 2


RECORD = "# 1. A\n\n## Status\n\nAccepted\n\n## Context\n\nWhy.\n\n## Decision\n\nWhat.\n"


def test_decision_records_are_found_by_what_is_in_them(mb: Run, project: Path) -> None:
    texts = {
        "engineering/choices/0001-a.md": RECORD,
        "engineering/choices/0002-b.md": RECORD,
        "notes/0001-shopping.md": "# Shopping\n\nBread.\n",
        "tool/tests/fixtures/adr/0001-a.md": RECORD,
        "ignored/adr/0001-a.md": RECORD,
        ".serena/memories/style.md": "# Style\n",
        ".specify/memory/constitution.md": "# Constitution\n",
        ".gitignore": "ignored/\n",
    }
    write_files(project, texts)
    odd = RECORD.replace("Accepted", "Complete, see the review")
    names = ("reviews/001-a.md", "reviews/002-b.md", "reviews/003-c.md", "template/0001-a.md")
    write_files(project, {name: RECORD if name.endswith("a.md") else odd for name in names})
    days = ("20200925", "20201016")
    write_files(project, {f"packages/web/adr/{day}-a.md": RECORD for day in days})
    write_files(project, {".agents/adr/0001-a.md": "# A\n\nIn a folder of this name.\n"})
    found = {one["path"]: one for one in mb("init", "--json").json["found"]}
    assert set(found) == {
        "engineering/choices", ".serena/memories", ".specify/memory/constitution.md", ".agents/adr",
        "packages/web/adr",
    }  # fmt: skip
    assert found["engineering/choices"]["kind"] == "decision records"
    assert found["engineering/choices"]["notes"] == 2


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the test a home in which two programs were used, and no other is installed."""
    home = tmp_path / "home"
    for name in (".claude", ".gemini"):
        (home / name).mkdir(parents=True)
    (home / ".claude/settings.json").write_text('{"theirs": 1}\n')
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    for name in ("CODEX_HOME", "CLAUDE_CONFIG_DIR", "APPDATA"):
        monkeypatch.delenv(name, raising=False)
    return home


def test_without_a_terminal_it_writes_nothing_but_the_bank(
    mb: Run, project: Path, home: Path
) -> None:
    before = read_files(home)
    assert mb("init").code == 0
    assert mb("init", "--yes", "--no-agents").code == 0
    assert read_files(home) == before
    assert not list(project.glob(".c*"))


def test_agents_are_set_up_by_one_answer_and_undone_without_a_byte_left(
    mb: Run, terminal: Run, project: Path, home: Path
) -> None:
    before = read_files(home)
    declined = plain_text(terminal("init", keys="\n").out)
    assert "Claude Code" in declined
    assert "Gemini CLI" in declined
    assert "Codex" not in declined
    assert read_files(home) == before
    answer = plain_text(terminal("init", keys="y\n").out)
    assert answer.count("[y/N]") == 1
    after = read_files(home)
    written = {str(home / name) for name in after if after[name] != before.get(name)}
    assert {Path(name).name for name in written} == {"settings.json", ".claude.json"}
    for name in written:
        assert os.path.relpath(name, project) in answer.replace("~", str(home)) or name in answer
    again = mb("init", "--yes", "--json").json
    assert [(one["name"], one["written"]) for one in again["agents"]] == [
        ("claude-code", []),
        ("gemini", []),
    ]
    for agent in again["agents"]:
        assert mb("agents", "remove", agent["name"], "--yes").code == 0
    assert read_files(home) == before


def test_a_program_whose_own_folder_is_there_is_found_and_undone(
    mb: Run, project: Path, home: Path
) -> None:
    (home / ".copilot").mkdir()
    before = read_files(home)
    found = {one["name"]: one for one in mb("init", "--yes", "--json").json["agents"]}
    assert found["copilot"]["written"]
    for name in found:
        assert mb("agents", "remove", name, "--yes").code == 0
    assert read_files(home) == before


def test_a_file_that_can_not_be_changed_is_said_and_the_others_are_written(
    mb: Run, project: Path, home: Path
) -> None:
    (home / ".claude/settings.json").write_text("{broken")
    answer = mb("init", "--yes")
    assert answer.code == 0
    assert "warning: Claude Code: " in answer.err
    assert (home / ".claude/settings.json").read_text() == "{broken"
    assert (home / ".gemini/settings.json").is_file()


def test_removal_leaves_no_empty_folder(mb: Run, project: Path, home: Path) -> None:
    for agent in ("codex", "copilot", "cursor"):
        mb("agents", "install", agent, "--yes")
        assert (home / f".{agent}").is_dir()
        mb("agents", "remove", agent, "--yes")
        assert not (home / f".{agent}").exists()
