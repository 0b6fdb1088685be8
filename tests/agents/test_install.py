import json
import os
import re
import sys
import tomllib
from pathlib import Path

import pytest

from memory_bank.agents import client_files, clients
from memory_bank.agents.setup_commands import plan_change
from memory_bank.bank.bank import Bank, open_bank
from memory_bank.base import filenames
from memory_bank.base.errors import BadInput, Conflict, StorageFailed
from memory_bank.frontends.hints import find_hint

ROOT = Path(__file__).parents[2]


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
    for name in clients.list_clients(clients.SERVERS)
    for scope in clients.SCOPES
    if scope == "user" or client_files.mcp_client(name).project_file
]


@pytest.mark.parametrize(("client", "scope"), SCOPES)
def test_a_new_file_names_the_server_and_goes_again(bank: Bank, client: str, scope: str) -> None:
    named = not client_files.mcp_client(client).finds_bank
    change = plan_change(bank, client, "server", scope=scope, named=named)
    assert not change.file.exists()
    change.write()
    entry = servers(change.file)["memory-bank"]
    assert entry == change.entry
    if scope == "user":
        assert Path(str(entry["command"])).is_absolute()
    else:
        assert entry["command"] == "memory-bank"
    assert (str(bank.layout.project) in json.dumps(entry)) == named
    assert not plan_change(bank, client, "server", scope=scope, named=named).changed
    plan_change(bank, client, "server", scope=scope, remove=True).write()
    assert not change.file.exists()


def test_the_shape_is_that_of_the_program(bank: Bank) -> None:
    assert plan_change(bank, "vscode", "server", scope="project").entry == {
        "type": "stdio",
        "command": "memory-bank",
        "args": ["serve", "mcp", "--bank", "${workspaceFolder}"],
    }
    assert plan_change(bank, "zed", "server", scope="project").entry == {
        "command": "memory-bank",
        "args": ["serve", "mcp"],
    }


def test_without_a_script_the_interpreter_is_named(
    bank: Bank, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(tmp_path))
    entry = plan_change(bank, "gemini", "server", scope="user").entry
    assert entry is not None
    assert entry["command"] == sys.executable
    assert entry["args"] == ["-P", "-m", "memory_bank", "serve", "mcp"]


@pytest.mark.parametrize("text", ["", "\n", '{\n  // mine\n  "mcpServers": {},\n}\r\n'])
def test_a_file_that_was_there_comes_back_byte_for_byte(bank: Bank, home: Path, text: str) -> None:
    file = home / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_bytes(text.encode())
    file.chmod(0o600)
    plan_change(bank, "cursor", "server", scope="user").write()
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.read_bytes() != text.encode()
    plan_change(None, "cursor", "server", scope="user", remove=True).write()
    assert file.read_bytes() == text.encode()


def test_a_link_to_a_file_kept_elsewhere_stays_a_link(bank: Bank, home: Path) -> None:
    (home / "dotfiles").mkdir()
    real, link = home / "dotfiles" / "codex.toml", home / ".codex" / "config.toml"
    real.write_text('model = "m"\n')
    link.parent.mkdir()
    link.symlink_to(real)
    plan_change(bank, "codex", "server").write()
    assert link.is_symlink()
    assert "memory-bank" in real.read_text()
    real.unlink()
    with pytest.raises(StorageFailed, match="leads nowhere"):
        plan_change(bank, "codex", "server")


NAMED_AGAIN = [("windsurf", True), ("cursor", True), ("cursor", False)]


@pytest.mark.parametrize(("client", "again"), NAMED_AGAIN)
def test_another_bank_s_server_is_not_replaced(
    bank: Bank, folder: Path, client: str, *, again: bool
) -> None:
    with open_bank(folder) as other:
        plan_change(other, client, "server", scope="user", named=True).write()
    with pytest.raises(BadInput, match="for another bank") as caught:
        plan_change(bank, client, "server", scope="user", named=again)
    assert "--name" in find_hint(caught.value)
    plan_change(bank, client, "server", scope="user", named=again, name="notes").write()
    found = servers(client_files.user_file(client_files.mcp_client(client)))
    assert set(found) == {"memory-bank", "notes"}


@pytest.mark.parametrize("client", ["claude-desktop", "windsurf"])
def test_a_program_that_works_in_no_project_needs_a_bank_that_the_user_names(
    bank: Bank, client: str
) -> None:
    with pytest.raises(BadInput, match="must name a bank") as caught:
        plan_change(bank, client, "server")
    assert "--bank" in find_hint(caught.value)
    plan_change(bank, client, "server", named=True).write()
    assert not plan_change(bank, client, "server").changed
    with pytest.raises(BadInput, match="reads no file of a project"):
        plan_change(bank, client, "server", scope="project")


@pytest.mark.parametrize("client", ["codex", "claude-code", "cursor", "gemini", "vscode", "zed"])
def test_a_project_that_the_users_own_file_names_goes(
    bank: Bank, client: str, tmp_path: Path
) -> None:
    change = plan_change(bank, client, "server", scope="user")
    change.write()
    args = [*change.entry["args"], "--read-only"]  # type: ignore[index]
    named = ["--bank", str(tmp_path / "other" / ".memories")]
    one = client_files.mcp_client(client)
    text = change.file.read_text()
    path = (one.key, "memory-bank", "args")
    change.file.write_text(one.editor.set_value(text, path, [*args[:-1], *named, args[-1]]))
    again = plan_change(None, client, "server", scope="user")
    assert again.entry is not None
    assert again.entry["args"] == args


def test_no_bank_is_needed_to_add_the_server_to_a_file_of_the_user(bank: Bank) -> None:
    without = plan_change(None, "codex", "server").entry
    assert without == plan_change(bank, "codex", "server").entry


def test_a_file_that_cannot_be_read_stays_as_it_is(bank: Bank) -> None:
    file = bank.layout.project / ".mcp.json"
    for data in (b'{"mcpServers": {', b'{"a": "\xff"}', b'{"mcpServers": []}'):
        file.write_bytes(data)
        with pytest.raises(BadInput) as caught:
            plan_change(bank, "claude-code", "server", scope="project")
        assert ".mcp.json stays as it is" in caught.value.message
        assert "make the change yourself" in find_hint(caught.value)
        assert file.read_bytes() == data


def test_a_file_that_changed_meanwhile_is_not_overwritten(bank: Bank) -> None:
    file = bank.layout.project / ".mcp.json"
    file.write_text("{}\n")
    change = plan_change(bank, "claude-code", "server", scope="project")
    file.write_text('{"a": 1}\n')
    with pytest.raises(Conflict):
        change.write()
    assert file.read_text() == '{"a": 1}\n'
    new = plan_change(bank, "cursor", "server", scope="project")
    new.file.parent.mkdir()
    new.file.write_text("{}\n")
    with pytest.raises(Exception, match="exists already"):
        new.write()


def test_a_bank_of_the_user_s_own_has_no_project(folder: Path) -> None:
    with open_bank(folder) as own:
        with pytest.raises(BadInput, match="not in a project") as caught:
            plan_change(own, "claude-code", "server", scope="project")
        assert "--scope user" in find_hint(caught.value)
        change = plan_change(own, "claude-code", "server", named=True)
        assert change.entry is not None
        assert str(folder) in str(change.entry["args"])


def test_nothing_is_left_of_an_entry_that_was_not_there(bank: Bank) -> None:
    assert not plan_change(bank, "claude-code", "server", scope="project", remove=True).changed
    assert filenames.FOLDER in os.listdir(bank.layout.project)


def test_a_link_that_a_repository_brings_is_not_followed(bank: Bank, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "mcp.json").write_text("{}")
    (bank.layout.project / ".vscode").symlink_to(outside)
    (bank.layout.project / ".mcp.json").symlink_to(outside / "mcp.json")
    for client in ("vscode", "claude-code"):
        with pytest.raises(BadInput, match="leads out of the project"):
            plan_change(bank, client, "server", scope="project")
        with pytest.raises(BadInput, match="leads out of the project"):
            plan_change(bank, client, "server", scope="project", remove=True)
    assert (outside / "mcp.json").read_text() == "{}"


@pytest.mark.parametrize("scope", ["project", "user"])
def test_what_the_user_tells_the_server_stays(bank: Bank, scope: str) -> None:
    change = plan_change(bank, "cursor", "server", scope=scope)
    change.write()
    text = change.file.read_text()
    change.file.write_text(
        text.replace('"mcp"', '"mcp", "--read-only"')
        .replace('"command": "', '"command": "/old/')
        .replace("]", ', "--toolsets", "store"]')
    )
    again = plan_change(bank, "cursor", "server", scope=scope)
    assert again.entry is not None
    args = again.entry["args"]
    assert args[-3:] == ["--read-only", "--toolsets", "store"]  # type: ignore[index]
    assert args[:-3] == change.entry["args"]  # type: ignore[index]
    assert again.entry["command"] == change.entry["command"]  # type: ignore[index]


def test_a_server_that_is_reached_by_its_address_is_not_mixed_with_ours(bank: Bank) -> None:
    file = bank.layout.project / ".mcp.json"
    file.write_text('{"mcpServers": {"memory-bank": {"type": "http", "url": "http://x/mcp"}}}')
    with pytest.raises(BadInput, match="by its address"):
        plan_change(bank, "claude-code", "server", scope="project")
    assert plan_change(bank, "claude-code", "server", name="memory-bank-2", scope="project").changed


@pytest.mark.parametrize("name", ["", "a b", "a.b", "é", "a" * 65, "x\n"])
def test_a_name_that_some_program_refuses_is_refused(bank: Bank, name: str) -> None:
    with pytest.raises(BadInput, match="can't name a server"):
        plan_change(bank, "claude-code", "server", name=name, scope="project")


@pytest.mark.parametrize(
    ("client", "scope", "trust"),
    [
        ("claude-code", "project", "approve"),
        ("claude-code", "user", "restart it"),
        ("vscode", "project", "trust"),
        ("codex", "project", "trust the project"),
        ("codex", "user", "restart it"),
        ("zed", "project", "trust"),
        ("gemini", "project", "trust the folder"),
        ("gemini", "user", "trust"),
        ("windsurf", "user", "refresh"),
    ],
)
def test_what_is_next_names_the_trust_step(client: str, scope: str, trust: str) -> None:
    assert trust in client_files.mcp_client(client).next_step(scope)


@pytest.mark.parametrize(
    ("client", "text"),
    [
        ("claude-code", '{"mcpServers": {},}'),
        ("claude-code", '{"mcpServers": {}} // mine'),
        ("gemini", '{"mcpServers": {},}'),
        ("gemini", "\ufeff{}"),
    ],
)
def test_what_the_client_would_reject_is_refused(bank: Bank, client: str, text: str) -> None:
    file = bank.layout.project / client_files.mcp_client(client).project_file
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=r"stays as it is: line 1, .*this program reads no"):
        plan_change(bank, client, "server", scope="project")
    with pytest.raises(BadInput, match="stays as it is"):
        plan_change(bank, client, "server", scope="project", remove=True)
    assert plan_change(bank, "vscode", "server", scope="project").changed


def test_another_scope_that_has_the_server_is_named(bank: Bank, home: Path) -> None:
    assert plan_change(bank, "claude-code", "server", scope="project").elsewhere == ()
    plan_change(bank, "claude-code", "server", scope="user", name="notes").write()
    (user,) = plan_change(bank, "claude-code", "server", scope="project").elsewhere
    assert (user.scope, user.file, user.name) == ("user", str(home / ".claude.json"), "notes")
    plan_change(bank, "claude-code", "server", scope="project").write()
    (project,) = plan_change(bank, "claude-code", "server", scope="user").elsewhere
    assert (project.scope, project.name) == ("project", "memory-bank")
    local = {str(bank.layout.project): {"mcpServers": servers(bank.layout.project / ".mcp.json")}}
    (home / ".claude.json").write_text(json.dumps({"projects": local}))
    assert [
        found.scope
        for found in plan_change(bank, "claude-code", "server", scope="project").elsewhere
    ] == ["local"]


def test_other_servers_of_other_scopes_are_not_named(bank: Bank, home: Path, folder: Path) -> None:
    with open_bank(folder) as other:
        plan_change(other, "cursor", "server", scope="user", named=True).write()
    file = home / ".cursor" / "mcp.json"
    data = json.loads(file.read_text())
    data["mcpServers"]["x"] = {"command": "npx", "args": ["memory", str(bank.layout.root)]}
    file.write_text(json.dumps(data))
    assert plan_change(bank, "cursor", "server", scope="project").elsewhere == ()
    file.write_text("broken")
    assert plan_change(bank, "cursor", "server", scope="project").elsewhere == ()


@pytest.mark.parametrize(
    "entry",
    [
        {"command": "npx", "args": ["-y", "some-memory", "/home/u/memory-bank"]},
        {"command": "memory-bank-other", "args": ["serve", "mcp"]},
        {"command": {"path": "memory-bank"}},
        {"type": "http", "url": "http://127.0.0.1:8765/mcp"},
        "serve mcp",
    ],
)
def test_an_entry_that_starts_something_else_stays(bank: Bank, entry: object) -> None:
    file = bank.layout.project / ".mcp.json"
    file.write_text(json.dumps({"mcpServers": {"memory-bank": entry}}))
    for remove in (False, True):
        with pytest.raises(BadInput, match="has a server 'memory-bank' that") as caught:
            plan_change(bank, "claude-code", "server", scope="project", remove=remove)
        assert "--name" in find_hint(caught.value)


@pytest.mark.parametrize(
    "entry",
    [
        {"command": "uvx", "args": ["--from", "markdown-memory-bank", "mb", "serve", "mcp"]},
        {"command": "C:\\bin\\memory-bank.exe", "args": ["--bank", "x", "serve", "mcp"]},
        {"command": "/v/bin/python", "args": ["-P", "-m", "memory_bank", "serve", "mcp"]},
        {"command": "sh", "args": ["-c", "memory-bank serve mcp"], "type": "stdio", "env": {}},
    ],
)
def test_an_entry_that_starts_this_program_in_another_way_goes(bank: Bank, entry: object) -> None:
    file = bank.layout.project / ".mcp.json"
    file.write_text(json.dumps({"mcpServers": {"memory-bank": entry, "other": {}}}))
    plan_change(bank, "claude-code", "server", scope="project", remove=True).write()
    assert servers(file) == {"other": {}}


def test_what_a_person_added_to_the_entry_stays(bank: Bank) -> None:
    change = plan_change(bank, "cursor", "server", scope="project")
    change.write()
    file = change.file
    tuned = file.read_text().replace('"command"', '"env": {"A": "1"}, // mine\n      "command"')
    file.write_text(tuned)
    removal = plan_change(bank, "cursor", "server", scope="project", remove=True)
    removal.write()
    assert removal.kept == ("env",)
    assert "// mine" in file.read_text()
    editor = client_files.mcp_client("cursor").editor
    assert editor.value_at(file.read_text(), ("mcpServers", "memory-bank")) == {"env": {"A": "1"}}
    assert not plan_change(bank, "cursor", "server", scope="project", remove=True).changed
    plan_change(bank, "cursor", "server", scope="project").write()
    found = editor.value_at(file.read_text(), ("mcpServers", "memory-bank"))
    assert found == {"env": {"A": "1"}, **(change.entry or {})}


def test_codex_passes_the_variables_that_place_the_private_state(bank: Bank, home: Path) -> None:
    change = plan_change(bank, "codex", "server")
    names = change.entry["env_vars"] if change.entry else None
    assert names == ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"]
    change.write()
    file = home / ".codex" / "config.toml"
    file.write_text(file.read_text().replace('"XDG_CONFIG_HOME"', '"TOKEN"'))
    again = plan_change(bank, "codex", "server")
    assert again.entry
    assert again.entry["env_vars"] == ["TOKEN", *names[1:], "XDG_CONFIG_HOME"]


def test_codex_gets_comments_since_it_does_not_start_without_a_command(
    bank: Bank, home: Path
) -> None:
    plan_change(bank, "codex", "server").write()
    file = home / ".codex" / "config.toml"
    text = file.read_text() + "startup_timeout_sec = 20\n"
    file.write_text(text)
    plan_change(None, "codex", "server", remove=True).write()
    assert file.read_text() == "".join(f"# {line}" for line in text.splitlines(keepends=True))


@pytest.mark.parametrize(
    ("client", "platform", "environ", "file"),
    [
        ("claude-code", "linux", {}, ".claude.json"),
        ("claude-code", "linux", {"CLAUDE_CONFIG_DIR": "/c"}, "/c/.claude.json"),
        ("claude-desktop", "linux", {}, ".config/Claude/claude_desktop_config.json"),
        (
            "claude-desktop",
            "darwin",
            {"XDG_CONFIG_HOME": "/x"},
            "Library/Application Support/Claude/claude_desktop_config.json",
        ),
        ("claude-desktop", "win32", {"APPDATA": "/r"}, "/r/Claude/claude_desktop_config.json"),
        ("cursor", "win32", {}, ".cursor/mcp.json"),
        ("vscode", "linux", {"XDG_CONFIG_HOME": "/x"}, "/x/Code/User/mcp.json"),
        ("vscode", "darwin", {}, "Library/Application Support/Code/User/mcp.json"),
        ("vscode", "win32", {}, "AppData/Roaming/Code/User/mcp.json"),
        ("codex", "linux", {}, ".codex/config.toml"),
        ("codex", "darwin", {"CODEX_HOME": "/x"}, "/x/config.toml"),
        ("windsurf", "linux", {}, ".codeium/windsurf/mcp_config.json"),
        ("zed", "linux", {"XDG_CONFIG_HOME": "/x"}, "/x/zed/settings.json"),
        ("zed", "darwin", {"XDG_CONFIG_HOME": "/x"}, ".config/zed/settings.json"),
        ("gemini", "linux", {}, ".gemini/settings.json"),
    ],
)
def test_the_user_s_own_file(
    home: Path, client: str, platform: str, environ: dict[str, str], file: str
) -> None:
    assert client_files.user_file(client_files.mcp_client(client), environ, platform) == home / file


def test_an_unknown_client_names_the_known_ones() -> None:
    with pytest.raises(BadInput) as caught:
        client_files.mcp_client("emacs")
    assert "claude-code" in caught.value.hint


def test_the_page_says_of_each_client_what_the_table_says() -> None:
    page = (ROOT / "docs" / "mcp.md").read_text(encoding="utf-8")
    rows = {row.split("`")[1]: row for row in page.splitlines() if row.startswith("| `")}
    for name in clients.list_clients(clients.SERVERS):
        one = client_files.mcp_client(name)
        cells = [cell.strip() for cell in rows[name].strip("|").split("|")]
        assert cells[1] == (f"`{one.project_file}`" if one.project_file else "none")
        assert f"`{one.key}`" == cells[3]
        assert re.search(rf"\({re.escape(one.docs)}\)", cells[4])
