"""The MCP server: a bank's actions as tools, resources and prompts for agents."""

from __future__ import annotations
