"""Zed, which speaks MCP."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memory_bank.agents.client_files import McpClient

NAME = "zed"


def mcp() -> McpClient:
    """Return how servers are added to its configuration."""
    from memory_bank.agents.client_files import McpClient

    return McpClient(
        *(NAME, "Zed", "https://zed.dev/docs/ai/mcp"),
        *("$XDG/zed/settings.json", ".zed/settings.json", "context_servers"),
        next_project="open the project and trust it",
    )
