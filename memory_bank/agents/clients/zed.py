"""Zed, which speaks MCP."""

from __future__ import annotations

NAME, TITLE = "zed", "Zed"

SERVER = {
    "docs": "https://zed.dev/docs/ai/mcp",
    "user_file": "$XDG/zed/settings.json",
    "project_file": ".zed/settings.json",
    "key": "context_servers",
    "next_project": "open the project and trust it",
}
