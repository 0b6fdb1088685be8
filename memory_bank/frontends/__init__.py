"""Command line, MCP, language server, dashboard."""
