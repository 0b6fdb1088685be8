import json
import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory_bank.agents import client_files, clients
from memory_bank.bank.bank import open_bank
from memory_bank.sessions.queue import EventQueue
from memory_bank.sessions.records import Session

from .conftest import Run

THEIRS = '{"hooks": {"PostToolUse": [{"matcher": "Edit", "hooks": [{"command": "prettier"}]}]}}\n'


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the test a home of its own, in which no client is configured."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home/.config"))
    for name in ("CODEX_HOME", "CLAUDE_CONFIG_DIR", "APPDATA"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "home"


def file_of(client: str) -> Path:
    return client_files.user_file(client_files.hook_client(client))


@pytest.mark.parametrize("client", clients.list_clients(clients.HOOKS))
@pytest.mark.parametrize("scope", ["user", "project"])
def test_install_and_uninstall_leave_what_was_there(
    mb: Run, project: Path, client: str, scope: str
) -> None:
    one = client_files.hook_client(client)
    file = file_of(client) if scope == "user" else project / one.project_file
    options = (client, "--only", "hooks", "--scope", scope, "--yes")
    assert mb("agents", "install", *options).code == 0
    text = file.read_text()
    assert "hook" in text
    if not one.plugin:
        hooks = json.loads(text)["hooks"]
        assert tuple(hooks) == one.events
    again = mb("agents", "install", *options)
    assert again.code == 0
    assert again.out.startswith("already there: ")
    assert file.read_text() == text
    assert mb("agents", "remove", *options).code == 0
    assert not file.exists()
    nothing = mb("agents", "remove", *options)
    assert nothing.code == 1
    assert "has no hooks in" in nothing.out


@pytest.mark.parametrize(
    ("client", "text"),
    [
        ("claude-code", THEIRS),
        ("claude-code", '{\n  "model": "x",\n  "hooks": {}\n}\n'),
        ("claude-code", "{}\n"),
        ("codex", THEIRS),
        ("gemini", '{\n  // mine\n  "hooks": {"AfterTool": [{"hooks": [{"command": "x"}]}]}\n}\n'),
        ("cursor", '{"version": 1, "hooks": {"stop": [{"command": "./x.sh"}]}, "more": [1]}'),
    ],
)
def test_other_hooks_and_comments_stay(mb: Run, client: str, text: str) -> None:
    file = file_of(client)
    file.parent.mkdir(parents=True)
    file.write_text(text)
    assert mb("agents", "install", client, "--only", "hooks", "--yes").code == 0
    new = file.read_text()
    assert f"hook {client}" in new
    assert ("// mine" in new) == ("// mine" in text)
    assert mb("agents", "install", client, "--only", "hooks", "--yes").out.startswith(
        "already there"
    )
    assert mb("agents", "remove", client, "--only", "hooks", "--yes").code == 0
    if text.strip() != "{}":
        assert file.read_text() in (text, text.replace(',\n  "hooks": {}', ""))


def test_install_renews_an_old_command_and_removes_what_is_no_longer_needed(mb: Run) -> None:
    file = file_of("claude-code")
    file.parent.mkdir(parents=True)
    ours = {
        "type": "command",
        "command": "/old/bin/memory-bank hook claude-code Stop",
        "timeout": 60,
    }
    with_args = {"command": "mb", "args": ["hook", "claude-code", "Notification"]}
    other = {"type": "command", "command": "echo memory-bank"}
    hooks = {
        "Stop": [{"hooks": [other, ours]}, {"hooks": [ours]}],
        "Notification": [{"hooks": [with_args]}],
    }
    file.write_text(json.dumps({"hooks": hooks}))
    assert mb("agents", "install", "claude-code", "--only", "hooks", "--yes").code == 0
    new = json.loads(file.read_text())["hooks"]
    assert "Notification" not in new
    (group,) = new["Stop"]
    assert group["hooks"][0] == other
    assert group["hooks"][1]["timeout"] == 60, "a person's own limit stays"
    assert group["hooks"][1]["command"].endswith("hook claude-code Stop")
    assert "/old/bin" not in group["hooks"][1]["command"]


@pytest.mark.parametrize(
    ("client", "text", "reason"),
    [
        ("claude-code", "{", "stays as it is"),
        ("claude-code", '{"hooks": []}', "hooks is no object"),
        ("claude-code", '{"hooks": {"Stop": {}}}', "hooks.Stop is no array"),
        ("claude-code", '{"a": 1} // x', "reads no comments"),
        ("opencode", "export const Mine = 1", "was not written by memory-bank"),
    ],
)
def test_a_file_of_another_form_is_refused(mb: Run, client: str, text: str, reason: str) -> None:
    file = file_of(client)
    file.parent.mkdir(parents=True)
    file.write_text(text)
    answer = mb("agents", "install", client, "--only", "hooks", "--yes")
    assert answer.code == 2
    assert reason in answer.err
    assert file.read_text() == text


def test_status_says_what_runs_and_what_was_received(mb: Run, project: Path) -> None:
    mb("agents", "install", "claude-code", "--only", "hooks", "--yes")
    mb("agents", "install", "codex", "--only", "hooks", "--yes")
    with open_bank(project) as bank:
        queue = EventQueue(bank.layout.state(bank.id))
        queue.capture(Session("s", "shop", datetime.now(UTC), "codex"), received="PostToolUse")
        queue.close()
    answer = mb("agents", "list")
    assert "claude-code hooks (user): installed  8 events" in answer.out
    assert "codex hooks (user): installed  7 events, trust unknown: see /hooks" in answer.out
    assert "last event: PostToolUse at 20" in answer.out
    assert "gemini: not installed: memory-bank agents install gemini" in answer.out
    file = file_of("claude-code")
    found = json.loads(file.read_text())
    del found["hooks"]["Stop"]
    text = json.dumps({**found, "disableAllHooks": True})
    file.write_text(text.replace("memory-bank hook", "memory-bank-gone/memory-bank hook"))
    answer = mb("agents", "list", "--json")
    (one,) = [
        place
        for place in answer.json["places"]
        if (place["client"], place["scope"]) == ("claude-code", "user")
    ]
    assert (one["installed"], one["runs"], one["missing"]) == (True, False, ["Stop"])
    assert one["problem"] == "disableAllHooks is true: no hook runs"
    assert "without Stop: install them again" in mb("agents", "list").out


def test_the_installed_command_answers(mb: Run, project: Path) -> None:
    mb("agents", "install", "copilot", "--only", "hooks", "--yes")
    hooks = json.loads(file_of("copilot").read_text())["hooks"]
    event = {"sessionId": "s", "cwd": str(project), "prompt": "go on", "timestamp": 1795392251793}
    done = subprocess.run(
        ["sh", "-c", hooks["userPromptSubmitted"][0]["bash"]],
        input=json.dumps(event),
        capture_output=True,
        text=True,
        check=True,
        env=dict(os.environ),
    )
    assert (done.stdout, done.stderr) == ("", "")
    with open_bank(project) as bank:
        queue = EventQueue(bank.layout.state(bank.id))
        assert [prompt.prompt_text for prompt in queue.prompts("s")] == ["go on"]
        queue.close()


def test_a_question_says_how_much_changes_and_how_to_see_it(terminal: Run, home: Path) -> None:
    asked = terminal(
        "agents", "install", "codex", "--only", "hooks", env={"HOME": str(home)}, keys="n\r"
    )
    assert "lines added; you see the change with --dry-run" in asked.out
    assert "PostToolUse" not in asked.out
