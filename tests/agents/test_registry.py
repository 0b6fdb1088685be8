import re
from pathlib import Path

import pytest

from memory_bank.agents import client_files, clients
from memory_bank.base.errors import BadInput

ROOT = Path(__file__).parents[2]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    return tmp_path


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
