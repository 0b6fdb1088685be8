"""All programs that are tried."""

import json
from pathlib import Path
from typing import ClassVar

from tests.agents.hooks.programs.dialects import Json, Plan, ToolCall
from tests.agents.hooks.programs.mock_model import URL
from tests.agents.hooks.programs.program import FAILS, PASSES, WRITTEN, Program, this_platform

_ADD = "*** Add File: notes.txt\n" + "".join(f"+{line}\n" for line in WRITTEN.splitlines())
_CHANGE = "*** Update File: notes.txt\n@@\n alpha\n-beta\n+gamma\n"
PATCHES = [f"*** Begin Patch\n{change}*** End Patch\n" for change in (_ADD, _CHANGE)]
COMMANDS = (FAILS, PASSES, "cat notes.txt")


class ClaudeCode(Program):
    """Claude Code: it loads schemas of tools by its tool `ToolSearch`."""

    name = client = "claude-code"
    package = "@anthropic-ai/claude-code"
    version = "2.1.332"
    tools = ("Write", "Edit", "Bash", "Read")
    fields = ("file_path", "content", "old_string", "new_string")

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

    def ask_memory(self, tool: str, arguments: Json) -> Plan:
        name = f"mcp__memory-bank__{tool}"
        return [ToolCall("ToolSearch", {"query": f"select:{name}"}), ToolCall(name, arguments)]


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


class GeminiCli(Program):
    """Gemini CLI: it lists all tools of a server."""

    name = client = "gemini"
    package = "@google/gemini-cli"
    version = "0.61.0"
    tools = ("write_file", "replace", "run_shell_command", "read_file")
    fields = ("file_path", "content", "old_string", "new_string")
    editing: ClassVar[dict[str, str]] = {"instruction": "Say gamma"}

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

    def ask_memory(self, tool: str, arguments: Json) -> Plan:
        return [ToolCall(f"mcp_memory-bank_{tool}", arguments)]


class OpenCode(Program):
    """OpenCode: hooks are functions of a plugin."""

    name = client = "opencode"
    server = False
    package = "opencode-ai"
    version = "1.18.33"
    tools = ("write", "edit", "bash", "read")
    fields = ("filePath", "content", "oldString", "newString")

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

    def ask_memory(self, tool: str, arguments: Json) -> Plan:
        return [ToolCall(f"memory-bank_{tool}", arguments)]


class CopilotCli(Program):
    """Copilot CLI: it also runs the hooks of Claude Code in folders that it trusts."""

    name = client = "copilot"
    server = False
    package = "@github/copilot"
    version = "1.0.102"
    tools = ("create", "edit", "bash", "view")
    fields = ("path", "file_text", "old_str", "new_str")

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

    def ask_memory(self, tool: str, arguments: Json) -> Plan:
        return [ToolCall(f"memory-bank-{tool}", arguments)]


PROGRAMS: tuple[Program, ...] = (
    ClaudeCode(),
    Codex(),
    CodexWithAnotherModel(),
    GeminiCli(),
    OpenCode(),
    CopilotCli(),
)
