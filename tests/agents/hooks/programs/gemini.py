"""Gemini CLI: it lists all tools of a server."""

import json
from pathlib import Path

from tests.agents.hooks.programs.dialects import Json, Plan, ToolCall
from tests.agents.hooks.programs.mock_model import URL
from tests.agents.hooks.programs.program import FAILS, PASSES, WRITTEN, Program


class GeminiCli(Program):
    """Gemini CLI: it lists all tools of a server."""

    name = client = "gemini"
    package = "@google/gemini-cli"
    version = "0.61.0"

    @property
    def start(self) -> list[str]:
        return ["node", str(self.modules / self.package / "bundle" / "gemini.js")]

    def words(self, project: Path, prompt: str) -> list[str]:
        return ["-p", prompt, "--yolo", "--model", "gemini-2.5-pro"]

    @property
    def environment(self) -> dict[str, str]:
        key = {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": URL}
        return key | {"GEMINI_CLI_TRUST_WORKSPACE": "true"}

    def files(self, project: Path) -> dict[str, str]:
        settings = {
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "general": {"enableAutoUpdate": False},
            "privacy": {"usageStatisticsEnabled": False},
        }
        return {".gemini/settings.json": json.dumps(settings)}

    def work(self, project: Path) -> Plan:
        file = str(project / "notes.txt")
        edit = {"file_path": file, "old_string": "beta", "new_string": "gamma"}
        return [
            ToolCall("write_file", {"file_path": file, "content": WRITTEN}),
            ToolCall("replace", {**edit, "instruction": "Say gamma"}),
            ToolCall("run_shell_command", {"command": FAILS, "description": "Run the job"}),
            ToolCall("run_shell_command", {"command": PASSES, "description": "Run the tests"}),
            ToolCall("read_file", {"file_path": file}),
        ]

    def ask_memory(self, tool: str, arguments: Json) -> Plan:
        return [ToolCall(f"mcp_memory-bank_{tool}", arguments)]
