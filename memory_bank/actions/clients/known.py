"""Programs that speak MCP: where each keeps its servers and how it writes one.

Looked up in each program's own documentation, which `docs` names.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from memory_bank.actions.clients import NAMES
from memory_bank.errors import BadInput


@dataclass(frozen=True, slots=True)
class Client:
    """A program, and how its configuration looks."""

    name: str
    title: str
    docs: str
    """Where its format is described."""
    user: str
    """The user's own file; `~`, `$CONFIG` (settings of programs) and `$XDG` are filled in."""
    project: str = ""
    """The file below the project, which is in git; empty when the program knows none."""
    key: str = "mcpServers"
    form: str = "json"
    extra: Mapping[str, str] = field(default_factory=dict)
    """What an entry says besides `command` and `args`."""
    folder: str = ""
    """How the program writes the project's folder; empty when it starts servers there."""
    home: str = ""
    """The variable that names the folder of the user's own file."""
    scope: str = "project"
    """Which file is meant when none is named."""
    then: str = "restart it"
    """What is to be done before the program sees the server."""


_VARIABLE = "${workspaceFolder}"
_ALL = (
    Client(
        "claude-code",
        "Claude Code",
        "https://code.claude.com/docs/en/mcp",
        user="~/.claude.json",
        project=".mcp.json",
        home="CLAUDE_CONFIG_DIR",
        then="start it in the project and approve the server",
    ),
    Client(
        "claude-desktop",
        "Claude Desktop",
        "https://modelcontextprotocol.io/docs/develop/connect-local-servers",
        user="$CONFIG/Claude/claude_desktop_config.json",
    ),
    Client(
        "cursor",
        "Cursor",
        "https://cursor.com/docs/context/mcp",
        user="~/.cursor/mcp.json",
        project=".cursor/mcp.json",
        folder=_VARIABLE,
        then="turn the server on in its settings, under MCP",
    ),
    Client(
        "vscode",
        "VS Code",
        "https://code.visualstudio.com/docs/copilot/reference/mcp-configuration",
        user="$CONFIG/Code/User/mcp.json",
        project=".vscode/mcp.json",
        key="servers",
        extra=MappingProxyType({"type": "stdio"}),
        folder=_VARIABLE,
        then="open the project and start the server when asked",
    ),
    Client(
        "codex",
        "Codex",
        "https://developers.openai.com/codex/config-reference",
        user="~/.codex/config.toml",
        project=".codex/config.toml",
        key="mcp_servers",
        form="toml",
        home="CODEX_HOME",
        scope="user",  # it reads a project's file only in projects that it was told to trust
    ),
    Client(
        "windsurf",
        "Windsurf",
        "https://docs.windsurf.com/windsurf/cascade/mcp",
        user="~/.codeium/windsurf/mcp_config.json",
        then="press refresh beside its list of MCP servers",
    ),
    Client(
        "zed",
        "Zed",
        "https://zed.dev/docs/ai/mcp",
        user="$XDG/zed/settings.json",
        project=".zed/settings.json",
        key="context_servers",
        then="open the project and trust it",
    ),
    Client(
        "gemini",
        "Gemini CLI",
        "https://geminicli.com/docs/tools/mcp-server",
        user="~/.gemini/settings.json",
        project=".gemini/settings.json",
        then="start it in the project",
    ),
)


def client(name: str) -> Client:
    """Return a program by its name; raise BadInput."""
    if name not in NAMES:
        raise BadInput(f"{name!r} is no client", f"choose one of: {', '.join(NAMES)}")
    return next(one for one in _ALL if one.name == name)


def user_file(
    one: Client, environ: Mapping[str, str] | None = None, platform: str = sys.platform
) -> Path:
    """Return the user's own file of a program on a platform."""
    environ = os.environ if environ is None else environ
    if one.home and environ.get(one.home):
        return Path(environ[one.home], Path(one.user).name)
    first, _, rest = one.user.partition("/")
    return _folders(environ, platform)[first] / rest


def _folders(environ: Mapping[str, str], platform: str) -> dict[str, Path]:
    home = Path.home()
    xdg = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    if platform == "win32":
        roaming = Path(environ.get("APPDATA") or home / "AppData/Roaming")
        return {"~": home, "$CONFIG": roaming, "$XDG": roaming}
    if platform == "darwin":
        # Zed keeps its settings in ~/.config here too, whatever XDG_CONFIG_HOME says
        settings = home / "Library/Application Support"
        return {"~": home, "$CONFIG": settings, "$XDG": home / ".config"}
    return {"~": home, "$CONFIG": xdg, "$XDG": xdg}
