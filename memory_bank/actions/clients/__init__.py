"""Set up programs that speak MCP: which there are, where they look, what they want to read."""

# Here, since the help of a command names them and must not load how they look.
NAMES = (
    "claude-code",
    "claude-desktop",
    "cursor",
    "vscode",
    "codex",
    "windsurf",
    "zed",
    "gemini",
)
SCOPES = ("project", "user")
