from __future__ import annotations

import json
import os
import sys
import tomllib
from pathlib import Path

import pytest

from memory_bank import Bank, layout, open_bank
from memory_bank.actions import clients
from memory_bank.actions.clients import known, setup
from memory_bank.errors import BadInput, Conflict, StorageFailed


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the test a home of its own, in which no program is configured."""
    place = tmp_path / "home"
    place.mkdir()
    monkeypatch.setattr(Path, "home", lambda: place)
    for name in ("XDG_CONFIG_HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR", "APPDATA"):
        monkeypatch.delenv(name, raising=False)
    return place


def servers(file: Path) -> dict[str, dict[str, object]]:
    """Return the servers that a file names."""
    text = file.read_text(encoding="utf-8")
    found = tomllib.loads(text) if file.suffix == ".toml" else json.loads(text)
    return next(iter(found.values()))  # type: ignore[no-any-return]


SCOPES = [
    (name, scope)
    for name in clients.NAMES
    for scope in clients.SCOPES
    if scope == "user" or known.client(name).project
]


@pytest.mark.parametrize(("client", "scope"), SCOPES)
def test_a_new_file_names_the_server_and_goes_again(bank: Bank, client: str, scope: str) -> None:
    change = setup.install(bank, client, scope=scope)
    assert not change.file.exists()
    setup.write(change)
    entry = servers(change.file)["memory-bank"]
    assert entry == change.entry
    if scope == "user":
        assert Path(str(entry["command"])).is_absolute()
        assert str(bank.layout.root) in entry["args"]  # type: ignore[operator]
    else:
        assert entry["command"] == "memory-bank"
        assert str(bank.layout.project) not in json.dumps(entry)
    assert not setup.install(bank, client, scope=scope).changed
    setup.write(setup.uninstall(bank, client, scope=scope))
    assert not change.file.exists()


def test_a_project_s_file_is_preferred_where_a_program_reads_one(bank: Bank, home: Path) -> None:
    project = bank.layout.project
    assert setup.install(bank, "claude-code").file == project / ".mcp.json"
    assert setup.install(bank, "vscode").file == project / ".vscode" / "mcp.json"
    assert setup.install(bank, "codex").file == home / ".codex" / "config.toml"
    assert setup.install(bank, "windsurf").file.is_relative_to(home)
    with pytest.raises(BadInput, match="reads no file of a project"):
        setup.install(bank, "claude-desktop", scope="project")


def test_the_shape_is_that_of_the_program(bank: Bank) -> None:
    assert setup.install(bank, "vscode").entry == {
        "type": "stdio",
        "command": "memory-bank",
        "args": ["serve", "mcp", "--bank", "${workspaceFolder}"],
    }
    assert setup.install(bank, "zed").entry == {"command": "memory-bank", "args": ["serve", "mcp"]}


def test_without_a_script_the_interpreter_is_named(
    bank: Bank, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(tmp_path))
    entry = setup.install(bank, "gemini", scope="user").entry
    assert entry is not None
    assert entry["command"] == sys.executable
    assert entry["args"] == [
        *("-P", "-m", "memory_bank", "serve", "mcp", "--bank"),
        str(bank.layout.root),
    ]


@pytest.mark.parametrize("text", ["", "\n", '{\n  // mine\n  "mcpServers": {},\n}\r\n'])
def test_a_file_that_was_there_comes_back_byte_for_byte(bank: Bank, home: Path, text: str) -> None:
    file = home / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_bytes(text.encode())
    file.chmod(0o600)
    setup.write(setup.install(bank, "cursor", scope="user"))
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.read_bytes() != text.encode()
    setup.write(setup.uninstall(None, "cursor", scope="user"))
    assert file.read_bytes() == text.encode()


def test_a_link_to_a_file_kept_elsewhere_stays_a_link(bank: Bank, home: Path) -> None:
    (home / "dotfiles").mkdir()
    real, link = home / "dotfiles" / "codex.toml", home / ".codex" / "config.toml"
    real.write_text('model = "m"\n')
    link.parent.mkdir()
    link.symlink_to(real)
    setup.write(setup.install(bank, "codex"))
    assert link.is_symlink()
    assert "memory-bank" in real.read_text()
    real.unlink()
    with pytest.raises(StorageFailed, match="leads nowhere"):
        setup.install(bank, "codex")


def test_another_bank_s_server_is_not_replaced(bank: Bank, folder: Path) -> None:
    setup.write(setup.install(bank, "windsurf"))
    with open_bank(folder) as other:
        with pytest.raises(BadInput, match="for another bank") as caught:
            setup.install(other, "windsurf")
        assert "--name" in caught.value.hint
        setup.write(setup.install(other, "windsurf", name="notes"))
        assert set(servers(known.user_file(known.client("windsurf")))) == {"memory-bank", "notes"}


def test_a_file_that_cannot_be_read_stays_as_it_is(bank: Bank) -> None:
    file = bank.layout.project / ".mcp.json"
    for data in (b'{"mcpServers": {', b'{"a": "\xff"}', b'{"mcpServers": []}'):
        file.write_bytes(data)
        with pytest.raises(BadInput) as caught:
            setup.install(bank, "claude-code")
        assert ".mcp.json stays as it is" in caught.value.message
        assert "--print" in caught.value.hint
        assert setup.install(bank, "claude-code", blank=True).after
        assert file.read_bytes() == data


def test_a_file_that_changed_meanwhile_is_not_overwritten(bank: Bank) -> None:
    file = bank.layout.project / ".mcp.json"
    file.write_text("{}\n")
    change = setup.install(bank, "claude-code")
    file.write_text('{"a": 1}\n')
    with pytest.raises(Conflict):
        setup.write(change)
    assert file.read_text() == '{"a": 1}\n'
    new = setup.install(bank, "cursor")
    new.file.parent.mkdir()
    new.file.write_text("{}\n")
    with pytest.raises(Exception, match="exists already"):
        setup.write(new)


def test_a_bank_of_the_user_s_own_has_no_project(folder: Path) -> None:
    with open_bank(folder) as own:
        with pytest.raises(BadInput, match="not in a project") as caught:
            setup.install(own, "claude-code")
        assert "--scope user" in caught.value.hint
        assert setup.install(own, "claude-code", scope="user").entry


def test_nothing_is_left_of_an_entry_that_was_not_there(bank: Bank) -> None:
    assert not setup.uninstall(bank, "claude-code").changed
    assert layout.FOLDER in os.listdir(bank.layout.project)


def test_a_link_that_a_repository_brings_is_not_followed(bank: Bank, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "mcp.json").write_text("{}")
    (bank.layout.project / ".vscode").symlink_to(outside)
    (bank.layout.project / ".mcp.json").symlink_to(outside / "mcp.json")
    for client in ("vscode", "claude-code"):
        with pytest.raises(BadInput, match="leads out of the project"):
            setup.install(bank, client)
        with pytest.raises(BadInput, match="leads out of the project"):
            setup.uninstall(bank, client)
    assert (outside / "mcp.json").read_text() == "{}"


@pytest.mark.parametrize("scope", ["project", "user"])
def test_what_the_user_tells_the_server_stays(bank: Bank, scope: str) -> None:
    change = setup.install(bank, "cursor", scope=scope)
    setup.write(change)
    text = change.file.read_text()
    change.file.write_text(
        text.replace('"mcp", ', '"mcp", "--read-only", ')
        .replace('"command": "', '"command": "/old/')
        .replace("]", ', "--toolsets", "store"]')
    )
    again = setup.install(bank, "cursor", scope=scope)
    assert again.entry is not None
    args = again.entry["args"]
    assert args[-3:] == ["--read-only", "--toolsets", "store"]  # type: ignore[index]
    assert args[:-3] == change.entry["args"]  # type: ignore[index]
    assert again.entry["command"] == change.entry["command"]  # type: ignore[index]


def test_a_server_that_is_reached_by_its_address_is_not_mixed_with_ours(bank: Bank) -> None:
    file = bank.layout.project / ".mcp.json"
    file.write_text('{"mcpServers": {"memory-bank": {"type": "http", "url": "http://x/mcp"}}}')
    with pytest.raises(BadInput, match="by its address"):
        setup.install(bank, "claude-code")
    assert setup.install(bank, "claude-code", name="memory-bank-2").changed


@pytest.mark.parametrize("name", ["", "a b", "a.b", "é", "a" * 65, "x\n"])
def test_a_name_that_some_program_refuses_is_refused(bank: Bank, name: str) -> None:
    with pytest.raises(BadInput, match="can't name a server"):
        setup.install(bank, "claude-code", name=name)


def test_what_is_next_depends_on_the_file(bank: Bank) -> None:
    assert "approve" in setup.install(bank, "claude-code").then
    assert setup.install(bank, "claude-code", scope="user").then == "restart it"
    assert "refresh" in setup.install(bank, "windsurf").then
