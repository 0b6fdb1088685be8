"""Copilot CLI: it also runs the hooks of Claude Code in folders that it trusts."""

import json
from pathlib import Path

from tests.agents.hooks.programs.dialects import Json, Plan, ToolCall
from tests.agents.hooks.programs.mock_model import URL
from tests.agents.hooks.programs.program import FAILS, PASSES, WRITTEN, Program, this_platform


class CopilotCli(Program):
    """Copilot CLI: it also runs the hooks of Claude Code in folders that it trusts."""

    name = client = "copilot"
    server = False
    package = "@github/copilot"
    version = "1.0.102"

    @property
    def hooks(self) -> tuple[tuple[str, str], ...]:
        return (("copilot", "user"), ("claude-code", "project"))

    @property
    def start(self) -> list[str]:
        return [str(self.modules / f"{self.package}-{this_platform()}" / "copilot")]

    def words(self, project: Path, prompt: str) -> list[str]:
        server = {
            "type": "local",
            "command": "memory-bank",
            "args": ["serve", "mcp"],
            "tools": ["*"],
        }
        servers = json.dumps({"mcpServers": {"memory-bank": server}})
        allowed = ("--allow-all-tools", "--allow-all-paths", "--no-color")
        return ["-p", prompt, *allowed, "--additional-mcp-config", servers]

    @property
    def environment(self) -> dict[str, str]:
        provider = {"BASE_URL": f"{URL}/v1", "TYPE": "openai", "API_KEY": "none"}
        asked = {f"COPILOT_PROVIDER_{name}": value for name, value in provider.items()}
        own = {"COPILOT_OFFLINE": "true", "COPILOT_MODEL": "mock", "COPILOT_AUTO_UPDATE": "false"}
        return asked | own

    def files(self, project: Path) -> dict[str, str]:
        trusted = {"trusted_folders": [str(project)]}
        return {".copilot/config.json": json.dumps(trusted)}

    def work(self, project: Path) -> Plan:
        file = str(project / "notes.txt")
        return [
            ToolCall("create", {"path": file, "file_text": WRITTEN}),
            ToolCall("edit", {"path": file, "old_str": "beta", "new_str": "gamma"}),
            ToolCall("bash", {"command": FAILS, "description": "Run the job"}),
            ToolCall("bash", {"command": PASSES, "description": "Run the tests"}),
            ToolCall("view", {"path": file}),
        ]

    def ask_memory(self, tool: str, arguments: Json) -> Plan:
        return [ToolCall(f"memory-bank-{tool}", arguments)]
