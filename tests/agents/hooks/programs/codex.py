"""Codex: every command is `exec_command`, every edit a patch."""

import json
from pathlib import Path

from tests.agents.hooks.programs.dialects import Json, Plan, ToolCall
from tests.agents.hooks.programs.mock_model import URL
from tests.agents.hooks.programs.program import FAILS, PASSES, WRITTEN, Program

_ADD = "*** Add File: notes.txt\n" + "".join(f"+{line}\n" for line in WRITTEN.splitlines())
_CHANGE = "*** Update File: notes.txt\n@@\n alpha\n-beta\n+gamma\n"
PATCHES = [f"*** Begin Patch\n{change}*** End Patch\n" for change in (_ADD, _CHANGE)]
COMMANDS = (FAILS, PASSES, "cat notes.txt")


class Codex(Program):
    """Codex: every command is `exec_command`, every edit a patch."""

    name = client = "codex"
    package = "@openai/codex"
    version = "0.171.0"

    @property
    def start(self) -> list[str]:
        return ["node", str(self.modules / self.package / "bin" / "codex.js")]

    def words(self, project: Path, prompt: str) -> list[str]:
        provider = f'{{name="mock", base_url="{URL}/v1", wire_api="responses"}}'
        waits = "mcp_servers.memory-bank.required=true"  # else it starts before the server has
        settings = ('model_provider="mock"', f"model_providers.mock={provider}", waits)
        options = [word for setting in settings for word in ("-c", setting)]
        bypass = ("--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust")
        return ["exec", *bypass, *options, prompt]

    def files(self, project: Path) -> dict[str, str]:
        trusted = f"[projects.{json.dumps(str(project))}]\ntrust_level = 'trusted'\n"
        return {".codex/config.toml": trusted}

    def work(self, project: Path) -> Plan:
        patches = [_script("apply_patch", patch) for patch in PATCHES]
        return [*patches, *(_script("exec_command", {"cmd": command}) for command in COMMANDS)]

    def ask_memory(self, tool: str, arguments: Json) -> Plan:
        find = "text(ALL_TOOLS.filter(tool => tool.name.includes('memory')))"
        return [ToolCall("exec", find), _script(f"mcp__memory_bank__{tool}", arguments)]


class CodexWithAnotherModel(Codex):
    """Codex with a model that it does not know: patches are commands, of which it tells no hook."""

    name = "codex-with-another-model"

    def words(self, project: Path, prompt: str) -> list[str]:
        *options, prompt = super().words(project, prompt)
        return [*options, "-c", 'model="mock"', prompt]

    def work(self, project: Path) -> Plan:
        shell = [f"apply_patch <<'END'\n{patch}END\n" for patch in PATCHES]
        return [ToolCall("exec_command", {"cmd": command}) for command in (*shell, *COMMANDS)]

    def ask_memory(self, tool: str, arguments: Json) -> Plan:
        return [ToolCall(f"mcp__memory_bank.{tool}", arguments)]


def _script(tool: str, arguments: Json | str) -> ToolCall:
    """Return the call of a tool as the script that Codex's present models write."""
    return ToolCall("exec", f"text(await tools.{tool}({json.dumps(arguments)}))")
