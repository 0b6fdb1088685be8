from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import Run, plain_text


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the test a home of its own, in which no client is configured."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("CODEX_HOME", "CLAUDE_CONFIG_DIR", "APPDATA"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "home"


def test_install_writes_the_project_s_file_and_says_what_next(mb: Run, project: Path) -> None:
    answer = mb("mcp", "install", "--client", "claude-code", "--yes")
    assert answer.code == 0
    assert answer.out == (
        "wrote .mcp.json\nnext: Claude Code: start it in the project and approve the server\n"
    )
    assert json.loads((project / ".mcp.json").read_text()) == {
        "mcpServers": {
            "memory-bank": {
                "command": "memory-bank",
                "args": ["serve", "mcp"],
            }
        }
    }
    again = mb("mcp", "install", "--client", "claude-code")
    assert (again.code, again.out) == (0, "already there: .mcp.json\n")


def test_uninstall_takes_it_out_again(mb: Run, project: Path) -> None:
    file = project / ".mcp.json"
    file.write_text('{"mcpServers": {"other": {"command": "x"}}}\n')
    mb("mcp", "install", "--client", "claude-code", "--yes")
    answer = mb("mcp", "uninstall", "--client", "claude-code", "--yes")
    assert (answer.code, answer.out) == (0, "wrote .mcp.json\n")
    assert file.read_text() == '{"mcpServers": {"other": {"command": "x"}}}\n'
    again = mb("mcp", "uninstall", "--client", "claude-code", "--yes")
    assert (again.code, again.out) == (1, "Claude Code has no server memory-bank in .mcp.json\n")


def test_print_shows_the_entry_and_writes_nothing(mb: Run, project: Path) -> None:
    (project / ".vscode").mkdir()
    (project / ".vscode" / "mcp.json").write_text("broken")
    answer = mb("mcp", "install", "--client", "vscode", "--print")
    assert answer.code == 0
    assert answer.json["servers"]["memory-bank"]["type"] == "stdio"
    assert answer.err == "for .vscode/mcp.json\n"
    assert (project / ".vscode" / "mcp.json").read_text() == "broken"


def test_a_pipe_is_not_asked(mb: Run, project: Path) -> None:
    for args in (("install",), ("install", "--json")):
        answer = mb("mcp", *args, "--client", "cursor", stdin="y\n")
        assert answer.code == 2
        assert "--yes" in answer.err
    assert not (project / ".cursor").exists()


def test_json_names_the_file_and_the_entry(mb: Run, project: Path) -> None:
    answer = mb("mcp", "install", "--client", "gemini", "--yes", "--json")
    assert answer.json == {
        "client": "gemini",
        "scope": "project",
        "file": str(project.resolve() / ".gemini" / "settings.json"),
        "name": "memory-bank",
        "entry": {"command": "memory-bank", "args": ["serve", "mcp"]},
        "changed": True,
    }
    gone = mb("mcp", "uninstall", "--client", "gemini", "--yes", "--json")
    assert "entry" not in gone.json
    assert not (project / ".gemini" / "settings.json").exists()


def test_install_says_when_another_scope_has_the_server(mb: Run, project: Path, home: Path) -> None:
    args = ("mcp", "install", "--client", "cursor", "--yes")
    mb(*args, "--scope", "user")
    assert (home / ".cursor" / "mcp.json").is_file()
    answer = mb(*args)
    assert answer.err.startswith("Cursor already has this server in the user scope: 'memory-bank'")
    (found,) = mb(*args, "--json").json["elsewhere"]
    assert (found["scope"], found["name"]) == ("user", "memory-bank")


def test_uninstall_names_what_it_keeps(mb: Run, project: Path) -> None:
    file = project / ".mcp.json"
    mb("mcp", "install", "--client", "claude-code", "--yes")
    file.write_text(file.read_text().replace('"command"', '"env": {"A": "1"}, "command"'))
    answer = mb("mcp", "uninstall", "--client", "claude-code", "--yes")
    assert answer.out == "wrote .mcp.json\nkept the keys that were added to memory-bank: env\n"
    assert json.loads(file.read_text()) == {"mcpServers": {"memory-bank": {"env": {"A": "1"}}}}


def test_what_the_client_would_reject_is_refused_with_its_place(mb: Run, project: Path) -> None:
    file = project / ".mcp.json"
    file.write_text('{"mcpServers": {"a": {"command": "x"},}}\n')
    answer = mb("mcp", "install", "--client", "claude-code", "--yes")
    assert answer.code == 2
    assert "line 1, column 38: this program reads no trailing comma" in answer.err
    assert file.read_text() == '{"mcpServers": {"a": {"command": "x"},}}\n'


def test_a_terminal_sees_the_change_and_may_say_no(terminal: Run, project: Path) -> None:
    file = project / ".mcp.json"
    file.write_text('{\n  "mcpServers": {\n    "a": {}\n  }\n}\n')
    answer = terminal("mcp", "install", "--client", "claude-code", keys="n\n")
    shown = plain_text(answer.out)
    assert '+    "memory-bank": {' in shown
    assert "Change .mcp.json? [y/N]: n" in shown
    assert "nothing was changed" in shown
    assert answer.code == 1
    assert "memory-bank" not in file.read_text()
    assert terminal("mcp", "install", "--client", "claude-code", keys="y\n").code == 0
    assert "memory-bank" in file.read_text()


@pytest.mark.parametrize("args", [(), ("--client", "emacs"), ("--client", "zed", "--scope", "all")])
def test_wrong_use_is_said(mb: Run, args: tuple[str, ...]) -> None:
    answer = mb("mcp", "install", *args)
    assert answer.code == 2
    assert answer.err.startswith("error: ")


def test_a_user_s_file_names_a_bank_only_if_the_user_does(
    mb: Run, project: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = home / ".codex" / "config.toml"
    assert mb("mcp", "install", "--client", "codex", "--yes").code == 0
    assert str(project) not in file.read_text()
    monkeypatch.chdir(home)  # in no project
    assert mb("mcp", "install", "--client", "codex").out.startswith("already there: ")
    bank = str(project / ".memories")
    named = ("mcp", "install", "--client", "codex", "--bank", bank, "--name", "p", "--yes")
    assert mb(*named).code == 0
    assert bank in file.read_text()
    refused = mb("mcp", "install", "--client", "claude-desktop", "--yes")
    assert refused.code == 2
    assert "name it with --bank DIR" in refused.err
