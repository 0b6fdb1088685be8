"""Windsurf, which speaks MCP."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memory_bank.agents.client_files import McpClient

NAME = "windsurf"


def mcp() -> McpClient:
    """Return how servers are added to its configuration."""
    from memory_bank.agents.client_files import McpClient

    return McpClient(
        *(NAME, "Windsurf", "https://docs.windsurf.com/windsurf/cascade/mcp"),
        "~/.codeium/windsurf/mcp_config.json",
        finds_bank=False,
        next_user="press refresh beside its list of MCP servers",
    )
