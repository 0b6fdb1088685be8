"""Claude Desktop, which speaks MCP."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memory_bank.agents.client_files import McpClient

NAME = "claude-desktop"


def mcp() -> McpClient:
    """Return how servers are added to its configuration."""
    from memory_bank.agents.client_files import STRICT, McpClient

    return McpClient(
        *(NAME, "Claude Desktop"),
        "https://modelcontextprotocol.io/docs/develop/connect-local-servers",
        "$CONFIG/Claude/claude_desktop_config.json",
        editor=STRICT,
        finds_bank=False,
    )
