"""The files by which agents use a project's memory after a clone."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from memory_bank.agents import bundle, init_command, setup_commands
from memory_bank.agents.clients.base import PLUGIN
from memory_bank.agents.setup_commands import plan_change
from memory_bank.bank.bank import Bank
from memory_bank.bank.written_files import FileEdit
from memory_bank.base.errors import BadInput, Conflict
from memory_bank.base.text import estimate
from tests.support.files import read_files

CLAUDE_HOOKS = f"{PLUGIN}/hooks/hooks.json"


def write(edits: list[FileEdit]) -> None:
    for edit in edits:
        edit.write()


def test_what_was_written_is_as_it_should_be_and_leaves_no_byte(bank: Bank, project: Path) -> None:
    (project / ".gemini").mkdir()
    (project / ".gemini/settings.json").write_text('{\n  // ours\n  "x": 1\n}\n')
    (project / ".codex").mkdir()
    (project / ".codex/config.toml").write_text("# ours\nmodel = 'x'\n")
    before = read_files(project)
    found = bundle.plan_bundle(bank)
    assert read_files(project) == before
    write(found)
    assert not any(edit.changed for edit in bundle.plan_bundle(bank))
    assert "# ours" in (project / ".codex/config.toml").read_text()
    write(bundle.plan_bundle(bank, remove=True))
    assert read_files(project) == before
    assert not (project / ".claude").exists()


def test_claude_code_has_hooks_and_server_in_the_plug_in_only(bank: Bank, project: Path) -> None:
    write(bundle.plan_bundle(bank))
    assert not (project / ".mcp.json").exists()
    assert not (project / ".claude/settings.json").exists()
    plugin = project / PLUGIN
    assert json.loads((plugin / ".claude-plugin/plugin.json").read_text())["name"]
    assert "SessionStart" in json.loads((project / CLAUDE_HOOKS).read_text())["hooks"]
    for name, schema in (("plugin.json", "plugin"), ("mcp.json", "mcp")):
        given = json.loads((plugin / name).read_text())["$schema"]
        assert given == f"https://agent-plugins.org/schemas/1.0.0/{schema}.schema.json"
    assert not (plugin / "SKILL.md").exists()


def test_the_skill_is_short_and_says_when_to_call_what() -> None:
    assert estimate(bundle.SKILL) < 400
    assert "ALWAYS" in bundle.SKILL.split("---")[1]
    assert bundle.SKILL.count("BEFORE") >= 4


def commands(project: Path) -> list[str]:
    """Return each command of the files that a shell runs."""
    found: list[str] = []

    def look(value: object) -> None:
        if isinstance(value, dict):
            found.extend(str(value[key]) for key in ("command", "bash") if key in value)
            if value.get("command") == "sh":
                found[-1] = value["args"][1]
            for one in value.values():
                look(one)
        for one in value if isinstance(value, list) else ():
            look(one)

    for file in project.rglob("*.json"):
        if ".git/" not in str(file) and ".index" not in str(file):
            look(json.loads(file.read_text()))
    return found


def test_without_the_program_each_command_does_nothing_and_one_says_so(
    bank: Bank, project: Path, tmp_path: Path
) -> None:
    write(bundle.plan_bundle(bank))
    found = commands(project)
    assert len(found) > 20
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    told = 0
    for command in found:
        done = subprocess.run(
            ["sh", "-c", command], input="{}", capture_output=True, text=True, env=environment,
            check=False,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, ""), command
        if done.stdout:
            told += 1
            assert "is not installed here" in json.dumps(json.loads(done.stdout))
    assert 0 < told < len(found) / 4
    assert not any(name in " ".join(found) for name in ("npx", "uvx", "pip", "curl", "http"))


def test_with_the_program_a_hook_never_fails_an_agent(
    bank: Bank, project: Path, tmp_path: Path
) -> None:
    write(bundle.plan_bundle(bank))
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin/memory-bank"
    program.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/called\nexit 3\n')
    program.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}/bin:/usr/bin:/bin"}
    for command in commands(project):
        if "serve mcp" not in command:
            done = subprocess.run(["sh", "-c", command], env=environment, check=False)
            assert done.returncode == 0
    called = (tmp_path / "called").read_text()
    for client in ("claude-code", "codex", "gemini", "copilot", "cursor"):
        assert f"hook {client} " in called


def test_a_file_of_another_hand_is_not_overwritten(bank: Bank, project: Path) -> None:
    skill = project / ".agents/skills/project-memory/SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("Theirs.\n")
    with pytest.raises(Conflict):
        bundle.plan_bundle(bank)
    assert skill.read_text() == "Theirs.\n"


def test_a_link_out_of_the_project_is_not_followed(
    bank: Bank, project: Path, tmp_path: Path
) -> None:
    (tmp_path / "out").mkdir()
    (project / ".claude").symlink_to(tmp_path / "out")
    with pytest.raises(BadInput):
        bundle.plan_bundle(bank)


def test_an_edit_is_drift(bank: Bank, project: Path) -> None:
    write(bundle.plan_bundle(bank))
    file = project / CLAUDE_HOOKS
    file.write_text(file.read_text().replace("Stop", "Start"))
    assert [edit.file for edit in bundle.plan_bundle(bank) if edit.changed] == [file]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "home"


@pytest.mark.parametrize("part", setup_commands.PARTS)
def test_a_set_up_beside_the_bundle_does_nothing_unless_it_is_forced(
    bank: Bank, project: Path, home: Path, part: str
) -> None:
    write(bundle.plan_bundle(bank))
    before = read_files(project)
    for client in ("claude-code", "codex", "gemini", "copilot", "cursor"):
        served = part == "hooks" or client in {"claude-code", "codex", "gemini"}
        planned = plan_change(bank, client, part, scope="user")
        assert (planned.bundle is not None, planned.changed) == (served, not served), client
        assert plan_change(bank, client, part, scope="user", force=True).changed
        for change in (
            plan_change(bank, client, part, scope="project", force=True),
            plan_change(bank, client, part, scope="project", remove=True),
        ):
            own_file = str(change.file.relative_to(project)) in before and served
            assert not (change.changed and own_file), f"the team's file of {client} stays"


def test_a_plug_in_among_the_user_s_skills_is_a_bundle(
    bank: Bank, project: Path, home: Path
) -> None:
    write(bundle.plan_bundle(bank))
    (home / ".claude").mkdir(parents=True)
    (project / ".claude/skills").rename(home / ".claude/skills")
    for part in setup_commands.PARTS:
        planned = plan_change(bank, "claude-code", part)
        assert planned.bundle is not None
        assert planned.bundle.is_relative_to(home)


def test_init_offers_no_program_that_the_bundle_sets_up(
    bank: Bank, project: Path, home: Path
) -> None:
    for name in (".claude", ".codex", ".copilot"):
        (home / name).mkdir(parents=True)
    offered = init_command.list_agents(project)
    assert len(offered["claude-code"]) == len(offered["copilot"]) == 2
    write(bundle.plan_bundle(bank))
    offered = init_command.list_agents(project)
    assert offered["claude-code"] == offered["codex"] == []
    assert offered["copilot"] == [str(home / ".copilot/mcp-config.json")]
    assert init_command.set_up(bank, "codex").written == ()
