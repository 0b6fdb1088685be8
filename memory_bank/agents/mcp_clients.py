"""Clients: programs that speak MCP, and the files with the servers that they start.

Each is described as in its own documentation. What JSON it reads was tried with Claude Code 2.1 and
Gemini CLI 0.61; where that is not known, it may have comments. A new client is an entry in CLIENTS.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from memory_bank.agents.json_file import JsonFile
from memory_bank.agents.program import Program
from memory_bank.agents.toml_file import TomlFile
from memory_bank.base.errors import BadInput

_WORKSPACE = "${workspaceFolder}"

_FOLDERS = [f"XDG_{kind}_HOME" for kind in ("CONFIG", "STATE", "DATA", "CACHE")]
"""Variables that Codex passes to a server only if they are named; without them the server has
another private state than commands and hooks."""

_STRICT = JsonFile()

_WITH_COMMENTS = JsonFile(comments=True, trailing_commas=True)


@dataclass(frozen=True, slots=True)
class Client(Program):
    """A program and the format of its configuration."""

    key: str = "mcpServers"
    editor: JsonFile | TomlFile = _WITH_COMMENTS
    extra: Mapping[str, object] = field(default_factory=dict)
    """Keys of an entry other than `command` and `args`."""
    folder: str = ""
    """The program's variable for the project's folder; empty if it starts servers there."""
    per_project: str = ""
    """The key in the user's own file below which each project's folder has servers of its own."""
    scope: str = "project"
    """The default scope."""
    finds_bank: bool = True
    """Whether the server can find the bank: it is started in the project, or told its folder."""


CLIENTS = (
    Client(
        *("claude-code", "Claude Code", "https://code.claude.com/docs/en/mcp"),
        *("~/.claude.json", ".mcp.json"),
        editor=_STRICT,
        home="CLAUDE_CONFIG_DIR",
        per_project="projects",
        next_project="start it in the project and approve the server",
    ),
    Client(
        *("claude-desktop", "Claude Desktop"),
        "https://modelcontextprotocol.io/docs/develop/connect-local-servers",
        "$CONFIG/Claude/claude_desktop_config.json",
        editor=_STRICT,
        scope="user",
        finds_bank=False,
    ),
    Client(
        *("cursor", "Cursor", "https://cursor.com/docs/context/mcp"),
        *("~/.cursor/mcp.json", ".cursor/mcp.json"),
        folder=_WORKSPACE,
        next_project="turn the server on in its settings, under MCP",
    ),
    Client(
        *("vscode", "VS Code"),
        "https://code.visualstudio.com/docs/copilot/reference/mcp-configuration",
        *("$CONFIG/Code/User/mcp.json", ".vscode/mcp.json", "servers"),
        extra=MappingProxyType({"type": "stdio"}),
        folder=_WORKSPACE,
        next_project="open the project, start the server and confirm that you trust it",
        next_user="start the server and confirm that you trust it",
    ),
    Client(
        *("codex", "Codex", "https://developers.openai.com/codex/config-reference"),
        *("~/.codex/config.toml", ".codex/config.toml", "mcp_servers"),
        editor=TomlFile(),
        extra=MappingProxyType({"env_vars": _FOLDERS}),
        home="CODEX_HOME",
        scope="user",  # it reads a project's file only in projects that it was told to trust
        next_project="start it in the project and trust the project; else it ignores the file",
    ),
    Client(
        *("windsurf", "Windsurf", "https://docs.windsurf.com/windsurf/cascade/mcp"),
        "~/.codeium/windsurf/mcp_config.json",
        scope="user",
        finds_bank=False,
        next_user="press refresh beside its list of MCP servers",
    ),
    Client(
        *("zed", "Zed", "https://zed.dev/docs/ai/mcp"),
        *("$XDG/zed/settings.json", ".zed/settings.json", "context_servers"),
        next_project="open the project and trust it",
    ),
    Client(
        *("gemini", "Gemini CLI", "https://geminicli.com/docs/tools/mcp-server"),
        *("~/.gemini/settings.json", ".gemini/settings.json"),
        editor=JsonFile(comments=True, byte_order_mark=False),
        next_project="start it in the project and trust the folder",
        next_user="restart it; in a folder that it does not trust it starts no server",
    ),
)

_BY_NAME = {client.name: client for client in CLIENTS}


def find(name: str) -> Client:
    """Return a client by its name; raise BadInput."""
    if name not in _BY_NAME:
        raise BadInput(f"{name!r} is no client", f"choose one of: {', '.join(_BY_NAME)}")
    return _BY_NAME[name]
