"""VS Code, which speaks MCP."""

from __future__ import annotations

from memory_bank.agents.clients.base import WORKSPACE

NAME, TITLE = "vscode", "VS Code"

SERVER = {
    "docs": "https://code.visualstudio.com/docs/copilot/reference/mcp-configuration",
    "user_file": "$CONFIG/Code/User/mcp.json",
    "project_file": ".vscode/mcp.json",
    "key": "servers",
    "extra": {"type": "stdio"},
    "folder": WORKSPACE,
    "next_project": "open the project, start the server and confirm that you trust it",
    "next_user": "start the server and confirm that you trust it",
}
