"""The MCP server: a bank's actions as tools, resources and prompts for agents."""
