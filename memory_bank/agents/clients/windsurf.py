"""Windsurf, which speaks MCP."""

from __future__ import annotations

NAME, TITLE = "windsurf", "Windsurf"

SERVER = {
    "docs": "https://docs.windsurf.com/windsurf/cascade/mcp",
    "user_file": "~/.codeium/windsurf/mcp_config.json",
    "finds_bank": False,
    "next_user": "press refresh beside its list of MCP servers",
}
