"""VS Code, which speaks MCP."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memory_bank.agents.client_files import McpClient

NAME = "vscode"


def mcp() -> McpClient:
    """Return how servers are added to its configuration."""
    from memory_bank.agents.client_files import WORKSPACE, McpClient

    return McpClient(
        *(NAME, "VS Code"),
        "https://code.visualstudio.com/docs/copilot/reference/mcp-configuration",
        *("$CONFIG/Code/User/mcp.json", ".vscode/mcp.json", "servers"),
        extra={"type": "stdio"},
        folder=WORKSPACE,
        next_project="open the project, start the server and confirm that you trust it",
        next_user="start the server and confirm that you trust it",
    )
