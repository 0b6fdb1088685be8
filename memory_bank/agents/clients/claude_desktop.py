"""Claude Desktop, which speaks MCP."""

from __future__ import annotations

NAME, TITLE = "claude-desktop", "Claude Desktop"

SERVER = {
    "docs": "https://modelcontextprotocol.io/docs/develop/connect-local-servers",
    "user_file": "$CONFIG/Claude/claude_desktop_config.json",
    "editor": "json",
    "finds_bank": False,
}
