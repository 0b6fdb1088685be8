"""Set up agents' programs: a registry of clients, editors of their files, install and uninstall."""

# Here, since the help of a command names them and must not load the registry; a test compares.
NAMES = (
    *("claude-code", "claude-desktop", "cursor", "vscode"),
    *("codex", "windsurf", "zed", "gemini"),
)
HOOK_NAMES = ("claude-code", "codex", "gemini", "copilot", "cursor", "opencode")
"""Clients whose hooks can be set up."""
SCOPES = ("project", "user")
