"""Claude Code: it loads schemas of tools by its tool `ToolSearch`."""

import json
from pathlib import Path

from tests.agents.hooks.programs.dialects import Json, Plan, ToolCall
from tests.agents.hooks.programs.mock_model import URL
from tests.agents.hooks.programs.program import FAILS, PASSES, WRITTEN, Program, this_platform


class ClaudeCode(Program):
    """Claude Code: it loads schemas of tools by its tool `ToolSearch`."""

    name = client = "claude-code"
    package = "@anthropic-ai/claude-code"
    version = "2.1.332"

    @property
    def start(self) -> list[str]:
        return [str(self.modules / f"{self.package}-{this_platform()}" / "claude")]

    def words(self, project: Path, prompt: str) -> list[str]:
        options = ("--dangerously-skip-permissions", "--model", "claude-sonnet-5")
        return ["-p", prompt, *options, "--output-format", "json"]

    @property
    def environment(self) -> dict[str, str]:
        switches = ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_AUTOUPDATER")
        quiet = dict.fromkeys((*switches, "DISABLE_TELEMETRY", "IS_SANDBOX"), "1")
        return quiet | {"ANTHROPIC_BASE_URL": URL, "ANTHROPIC_API_KEY": "none"}

    def files(self, project: Path) -> dict[str, str]:
        approved = {"enableAllProjectMcpServers": True}
        return {".claude/settings.json": json.dumps(approved)}

    def work(self, project: Path) -> Plan:
        file = str(project / "notes.txt")
        edit = {"file_path": file, "old_string": "beta", "new_string": "gamma"}
        return [
            ToolCall("Write", {"file_path": file, "content": WRITTEN}),
            ToolCall("Edit", edit),
            ToolCall("Bash", {"command": FAILS, "description": "Run the job"}),
            ToolCall("Bash", {"command": PASSES, "description": "Run the tests"}),
            ToolCall("Read", {"file_path": file}),
        ]

    def ask_memory(self, tool: str, arguments: Json) -> Plan:
        name = f"mcp__memory-bank__{tool}"
        return [ToolCall("ToolSearch", {"query": f"select:{name}"}), ToolCall(name, arguments)]
