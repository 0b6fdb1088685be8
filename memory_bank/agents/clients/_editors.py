"""Programs that speak MCP and have neither hooks nor transcripts that are known."""

from __future__ import annotations

from types import SimpleNamespace

from memory_bank.agents.client_files import STRICT, WORKSPACE, McpClient


def _speaking(client: McpClient) -> SimpleNamespace:
    return SimpleNamespace(NAME=client.name, mcp=lambda: client)


claude_desktop = _speaking(
    McpClient(
        *("claude-desktop", "Claude Desktop"),
        "https://modelcontextprotocol.io/docs/develop/connect-local-servers",
        "$CONFIG/Claude/claude_desktop_config.json",
        editor=STRICT,
        scope="user",
        finds_bank=False,
    )
)

vscode = _speaking(
    McpClient(
        *("vscode", "VS Code"),
        "https://code.visualstudio.com/docs/copilot/reference/mcp-configuration",
        *("$CONFIG/Code/User/mcp.json", ".vscode/mcp.json", "servers"),
        extra={"type": "stdio"},
        folder=WORKSPACE,
        next_project="open the project, start the server and confirm that you trust it",
        next_user="start the server and confirm that you trust it",
    )
)

windsurf = _speaking(
    McpClient(
        *("windsurf", "Windsurf", "https://docs.windsurf.com/windsurf/cascade/mcp"),
        "~/.codeium/windsurf/mcp_config.json",
        scope="user",
        finds_bank=False,
        next_user="press refresh beside its list of MCP servers",
    )
)

zed = _speaking(
    McpClient(
        *("zed", "Zed", "https://zed.dev/docs/ai/mcp"),
        *("$XDG/zed/settings.json", ".zed/settings.json", "context_servers"),
        next_project="open the project and trust it",
    )
)
