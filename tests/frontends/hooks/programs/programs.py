"""The programs of agents that run without a person: where npm puts them, how they are started, what they can do.

Each is installed once into the user's cache, in the version that was tried last, and asks the model
of a test instead of its maker's.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from abc import ABC, abstractmethod
from pathlib import Path
from typing import ClassVar

import pytest

from tests.frontends.hooks.programs.dialects import Json, ToolCall
from tests.frontends.hooks.programs.mock_model import URL

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "memory-bank-tests"
"""Where programs stay between runs; read here because tests get folders of their own."""

WRITTEN = "alpha\nbeta\n"
FAILS = "echo started; echo 'the lock is held' >&2; exit 3"
PASSES = "echo 41 passed"


class Program(ABC):
    """A program of an agent."""

    client: ClassVar[str]
    """Its name in `memory-bank hooks install`."""
    package: ClassVar[str]
    version: ClassVar[str]

    @property
    def modules(self) -> Path:
        """The folder that npm fills."""
        name = self.package.replace("/", "+")
        return CACHE / f"{name}@{self.version}" / "node_modules"

    def install(self) -> None:
        """Install the program unless it is there; skip the test without npm."""
        if not shutil.which("npm") or not shutil.which("node"):
            pytest.skip("there is no Node with npm here")
        folder = self.modules.parent
        if (folder / "complete").exists():
            return
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text('{"private": true}')
        options = ("--no-audit", "--no-fund", "--ignore-scripts")
        command = ["npm", "install", *options, f"{self.package}@{self.version}"]
        subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=500)
        (folder / "complete").touch()

    @property
    @abstractmethod
    def start(self) -> list[str]:
        """Return the words that start the program."""

    @abstractmethod
    def words(self, project: Path, prompt: str) -> list[str]:
        """Return the words that make it work on a prompt in a project, without questions."""

    @property
    def environment(self) -> dict[str, str]:
        """Return what it needs in its environment."""
        return {}

    def files(self, project: Path) -> dict[str, str]:
        """Return what it needs in a fresh home: texts by their paths."""
        return {}

    @abstractmethod
    def work(self, project: Path) -> list[ToolCall]:
        """Return calls that write `notes.txt`, edit it, fail, pass and read the file."""

    @abstractmethod
    def ask_memory(self, tool: str, arguments: Json) -> list[ToolCall]:
        """Return the calls that end in one of a tool of the server `memory-bank`."""


def _platform() -> str:
    machine = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64"}
    found = platform.machine().lower()
    return f"{sys.platform}-{machine.get(found, found)}"


class ClaudeCode(Program):
    """Claude Code: it loads schemas of tools by its tool `ToolSearch`."""

    client = "claude-code"
    package = "@anthropic-ai/claude-code"
    version = "2.1.330"

    @property
    def start(self) -> list[str]:
        return [str(self.modules / f"{self.package}-{_platform()}" / "claude")]

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

    def work(self, project: Path) -> list[ToolCall]:
        file = str(project / "notes.txt")
        edit = {"file_path": file, "old_string": "beta", "new_string": "gamma"}
        return [
            ToolCall("Write", {"file_path": file, "content": WRITTEN}),
            ToolCall("Edit", edit),
            ToolCall("Bash", {"command": FAILS, "description": "Run the job"}),
            ToolCall("Bash", {"command": PASSES, "description": "Run the tests"}),
            ToolCall("Read", {"file_path": file}),
        ]

    def ask_memory(self, tool: str, arguments: Json) -> list[ToolCall]:
        name = f"mcp__memory-bank__{tool}"
        return [ToolCall("ToolSearch", {"query": f"select:{name}"}), ToolCall(name, arguments)]


class Codex(Program):
    """Codex: every command is `exec_command`, every edit a patch."""

    client = "codex"
    package = "@openai/codex"
    version = "0.169.0"

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

    def work(self, project: Path) -> list[ToolCall]:
        lines = "".join(f"+{line}\n" for line in WRITTEN.splitlines())
        add = f"*** Add File: notes.txt\n{lines}"
        change = "*** Update File: notes.txt\n@@\n alpha\n-beta\n+gamma\n"
        patches = [f"*** Begin Patch\n{patch}*** End Patch\n" for patch in (add, change)]
        commands = [{"cmd": command} for command in (FAILS, PASSES, "cat notes.txt")]
        return [
            *(_script("apply_patch", patch) for patch in patches),
            *(_script("exec_command", command) for command in commands),
        ]

    def ask_memory(self, tool: str, arguments: Json) -> list[ToolCall]:
        find = "text(ALL_TOOLS.filter(tool => tool.name.includes('memory')))"
        return [ToolCall("exec", find), _script(f"mcp__memory_bank__{tool}", arguments)]


def _script(tool: str, arguments: Json | str) -> ToolCall:
    """Return the call of a tool as the script that Codex's present models write."""
    return ToolCall("exec", f"text(await tools.{tool}({json.dumps(arguments)}))")


class GeminiCli(Program):
    """Gemini CLI: it lists all tools of a server."""

    client = "gemini"
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

    def work(self, project: Path) -> list[ToolCall]:
        file = str(project / "notes.txt")
        edit = {"file_path": file, "old_string": "beta", "new_string": "gamma"}
        return [
            ToolCall("write_file", {"file_path": file, "content": WRITTEN}),
            ToolCall("replace", {**edit, "instruction": "Say gamma"}),
            ToolCall("run_shell_command", {"command": FAILS, "description": "Run the job"}),
            ToolCall("run_shell_command", {"command": PASSES, "description": "Run the tests"}),
            ToolCall("read_file", {"file_path": file}),
        ]

    def ask_memory(self, tool: str, arguments: Json) -> list[ToolCall]:
        return [ToolCall(f"mcp_memory-bank_{tool}", arguments)]


class OpenCode(Program):
    """OpenCode: hooks are functions of a plugin."""

    client = "opencode"
    package = "opencode-ai"
    version = "1.18.33"

    @property
    def start(self) -> list[str]:
        return [str(self.modules / f"opencode-{_platform()}" / "bin" / "opencode")]

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

    def work(self, project: Path) -> list[ToolCall]:
        file = str(project / "notes.txt")
        edit = {"filePath": file, "oldString": "beta", "newString": "gamma"}
        return [
            ToolCall("write", {"filePath": file, "content": WRITTEN}),
            ToolCall("edit", edit),
            ToolCall("bash", {"command": FAILS, "description": "Run the job"}),
            ToolCall("bash", {"command": PASSES, "description": "Run the tests"}),
            ToolCall("read", {"filePath": file}),
        ]

    def ask_memory(self, tool: str, arguments: Json) -> list[ToolCall]:
        return [ToolCall(f"memory-bank_{tool}", arguments)]


class CopilotCli(Program):
    """Copilot CLI: it also runs the hooks of Claude Code in folders that it trusts."""

    client = "copilot"
    package = "@github/copilot"
    version = "1.0.102"

    @property
    def start(self) -> list[str]:
        return [str(self.modules / f"{self.package}-{_platform()}" / "copilot")]

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

    def work(self, project: Path) -> list[ToolCall]:
        file = str(project / "notes.txt")
        return [
            ToolCall("create", {"path": file, "file_text": WRITTEN}),
            ToolCall("edit", {"path": file, "old_str": "beta", "new_str": "gamma"}),
            ToolCall("bash", {"command": FAILS, "description": "Run the job"}),
            ToolCall("bash", {"command": PASSES, "description": "Run the tests"}),
            ToolCall("view", {"path": file}),
        ]

    def ask_memory(self, tool: str, arguments: Json) -> list[ToolCall]:
        return [ToolCall(f"memory-bank-{tool}", arguments)]


PROGRAMS: tuple[Program, ...] = (ClaudeCode(), Codex(), GeminiCli(), OpenCode(), CopilotCli())
