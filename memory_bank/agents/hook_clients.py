"""Clients with hooks: the files that name commands for their events.

Each is described as in its own documentation, and was tried where `docs/hooks.md` has a version. A
client also needs a file in `frontends/hooks/clients/`, which reads its events.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from memory_bank.agents.json_file import JsonFile
from memory_bank.agents.program import Program
from memory_bank.base.errors import BadInput

Form = Literal["groups", "flat", "plugin"]
"""`groups`: an event has groups of handlers; `flat`: handlers; `plugin`: a file of JavaScript."""

SECONDS = 10
"""Time limit of a hook, which takes a tenth of a second."""


@dataclass(frozen=True, slots=True)
class HookClient(Program):
    """A program, and the format of its file with hooks."""

    events: tuple[str, ...] = field(kw_only=True)
    form: Form = "groups"
    editor: JsonFile = field(default_factory=JsonFile)
    command_keys: tuple[str, ...] = ("command",)
    """Keys of a handler that hold the command."""
    extra: Mapping[str, object] = field(default_factory=dict)
    """Other keys of a handler."""
    timeouts: Mapping[str, object] = field(default_factory=dict)
    """The key of the time limit with its value, for all events."""
    short: Mapping[str, object] = field(default_factory=dict)
    """Events with another time limit."""
    top: Mapping[str, object] = field(default_factory=dict)
    """Keys beside `hooks` that the file must have."""
    off: str = ""
    """The key that turns all hooks off if it is true."""


CLIENTS = (
    HookClient(
        *("claude-code", "Claude Code", "https://code.claude.com/docs/en/hooks"),
        *("~/.claude/settings.json", ".claude/settings.json"),
        events=(
            *("SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure"),
            *("PreCompact", "Stop", "SubagentStop", "SessionEnd"),
        ),
        extra=MappingProxyType({"type": "command"}),
        timeouts=MappingProxyType({"timeout": SECONDS}),
        home="CLAUDE_CONFIG_DIR",
        off="disableAllHooks",
        next_project="start it in the project and trust the folder; `/hooks` lists them",
        next_user="start it; `/hooks` lists them",
    ),
    HookClient(
        *("codex", "Codex", "https://developers.openai.com/codex/hooks"),
        *("~/.codex/hooks.json", ".codex/hooks.json"),
        events=(
            *("SessionStart", "UserPromptSubmit", "PostToolUse", "PreCompact", "Stop"),
            *("SubagentStop", "SessionEnd"),
        ),
        extra=MappingProxyType({"type": "command"}),
        timeouts=MappingProxyType({"timeout": SECONDS}),
        short=MappingProxyType({"SessionEnd": 3}),
        home="CODEX_HOME",
        next_project="start it in the project, trust the project, and approve the hooks in /hooks",
        next_user="start it and approve the hooks in /hooks: until then it skips them silently",
    ),
    HookClient(
        *("gemini", "Gemini CLI", "https://geminicli.com/docs/hooks"),
        *("~/.gemini/settings.json", ".gemini/settings.json"),
        events=("SessionStart", "BeforeAgent", "AfterTool", "AfterAgent", "SessionEnd"),
        editor=JsonFile(comments=True, byte_order_mark=False),
        extra=MappingProxyType({"type": "command", "name": "memory-bank"}),
        timeouts=MappingProxyType({"timeout": SECONDS * 1000}),
        next_project="start it in the project and trust the folder: else it runs no hooks of it",
    ),
    HookClient(
        *("copilot", "Copilot CLI"),
        "https://docs.github.com/en/copilot/reference/hooks-configuration",
        *("~/.copilot/hooks/memory-bank.json", ".github/hooks/memory-bank.json"),
        events=(
            *("sessionStart", "userPromptSubmitted", "postToolUse", "postToolUseFailure"),
            *("agentStop", "sessionEnd"),
        ),
        form="flat",
        command_keys=("bash", "powershell"),
        extra=MappingProxyType({"type": "command"}),
        timeouts=MappingProxyType({"timeoutSec": SECONDS}),
        top=MappingProxyType({"version": 1}),
        next_project="start it in the project and trust the folder: else it runs no hooks of it",
    ),
    HookClient(
        *("cursor", "Cursor", "https://cursor.com/docs/agent/hooks"),
        *("~/.cursor/hooks.json", ".cursor/hooks.json"),
        events=(
            *("sessionStart", "beforeSubmitPrompt", "postToolUse", "postToolUseFailure"),
            *("stop", "subagentStop", "sessionEnd"),
        ),
        form="flat",
        timeouts=MappingProxyType({"timeout": SECONDS}),
        top=MappingProxyType({"version": 1}),
        next_project="open the project and trust it",
        next_user="nothing: it reads the file again when it changes",
    ),
    HookClient(
        *("opencode", "OpenCode", "https://opencode.ai/docs/plugins"),
        *("$XDG/opencode/plugins/memory-bank.js", ".opencode/plugins/memory-bank.js"),
        events=(
            *("session.created", "chat.message", "tool.execute.after", "message.part.updated"),
            *("session.compacted", "session.idle", "session.deleted"),
        ),
        form="plugin",
    ),
)

_BY_NAME = {client.name: client for client in CLIENTS}


def find(name: str) -> HookClient:
    """Return a client by its name; raise BadInput."""
    if name not in _BY_NAME:
        raise BadInput(f"{name!r} has no hooks that are known", f"one of: {', '.join(_BY_NAME)}")
    return _BY_NAME[name]
