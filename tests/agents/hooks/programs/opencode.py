"""OpenCode: hooks are functions of a plugin."""

import json
from pathlib import Path

from tests.agents.hooks.programs.dialects import Json, Plan, ToolCall
from tests.agents.hooks.programs.mock_model import URL
from tests.agents.hooks.programs.program import FAILS, PASSES, WRITTEN, Program, this_platform


class OpenCode(Program):
    """OpenCode: hooks are functions of a plugin."""

    name = client = "opencode"
    server = False
    package = "opencode-ai"
    version = "1.18.33"

    @property
    def start(self) -> list[str]:
        return [str(self.modules / f"opencode-{this_platform()}" / "bin" / "opencode")]

    def words(self, project: Path, prompt: str) -> list[str]:
        return ["run", "--model", "mock/mock", prompt]

    @property
    def environment(self) -> dict[str, str]:
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "name": "mock",
            "options": {"baseURL": f"{URL}/v1", "apiKey": "none"},
            "models": {"mock": {"name": "mock", "tool_call": True}},
        }
        server = {"type": "local", "command": ["memory-bank", "serve", "mcp"]}
        settings = {
            "mcp": {"memory-bank": server},
            "provider": {"mock": provider},
            "small_model": "mock/mock",
            "permission": "allow",
        }
        switches = ("OPENCODE_DISABLE_AUTOUPDATE", "OPENCODE_DISABLE_MODELS_FETCH")
        quick = {"npm_config_fetch_retries": "0"}  # else it waits a minute for its plugins' types
        return (
            dict.fromkeys(switches, "1") | quick | {"OPENCODE_CONFIG_CONTENT": json.dumps(settings)}
        )

    def work(self, project: Path) -> Plan:
        file = str(project / "notes.txt")
        edit = {"filePath": file, "oldString": "beta", "newString": "gamma"}
        return [
            ToolCall("write", {"filePath": file, "content": WRITTEN}),
            ToolCall("edit", edit),
            ToolCall("bash", {"command": FAILS, "description": "Run the job"}),
            ToolCall("bash", {"command": PASSES, "description": "Run the tests"}),
            ToolCall("read", {"filePath": file}),
        ]

    def ask_memory(self, tool: str, arguments: Json) -> Plan:
        return [ToolCall(f"memory-bank_{tool}", arguments)]
