"""Copilot CLI: its hooks.

https://docs.github.com/en/copilot/reference/hooks-configuration
"""

from __future__ import annotations

import re
from pathlib import Path

from memory_bank.agents.clients.base import AGENTS, SECONDS, EventTable, HookEvent, Kind, read_texts
from memory_bank.agents.payload import (
    Payload,
    end_of,
    read_fields,
    read_text,
)

NAME, TITLE = "copilot", "Copilot CLI"

EVENTS: dict[str, Kind] = {
    "sessionStart": "start",
    "userPromptSubmitted": "prompt",
    "postToolUse": "tool",
    "postToolUseFailure": "tool",
    "agentStop": "stop",
    "sessionEnd": "end",
}

SERVER = {
    "docs": "https://docs.github.com/en/copilot/how-tos/copilot-cli/customize-copilot/add-mcp-servers",
    "user_file": "~/.copilot/mcp-config.json",
    "project_file": ".mcp.json",
    "home": "COPILOT_HOME",
    "editor": "json",
    "extra": {"type": "stdio", "tools": ["*"]},
    "next_project": "start it in the project and trust the folder",
}

HOOKS = {
    "docs": "https://docs.github.com/en/copilot/reference/hooks-configuration",
    "user_file": "~/.copilot/hooks/memory-bank.json",
    "project_file": ".github/hooks/memory-bank.json",
    "form": "flat",
    "command_keys": ("bash", "powershell"),
    "extra": {"type": "command"},
    "timeouts": {"timeoutSec": SECONDS},
    "top": {"version": 1},
    "next_project": "start it in the project and trust the folder: else it runs no hooks of it",
}

_TAIL = 400_000
"""Bytes at the end of a transcript in which the agent's last text is looked for."""

_EXIT = r"<shellId: [^\s>]{1,40} completed with exit code (-?\d{1,5})>"


_TABLE = EventTable(
    *(NAME, EVENTS),
    session=("sessionId",),
    project=("COPILOT_PROJECT_DIR",),
    moment="timestamp",
    tool="toolName",
    tool_input="toolArgs",
    tool_output="toolResult",
)


def read(event: str, payload: Payload) -> HookEvent | None:
    """Return an event in the common form; None if it is to be ignored."""
    hook_event = _TABLE.read(event, payload)
    if hook_event is None:
        return None
    if hook_event.kind == "stop":
        return hook_event._replace(said=_find_last_text(hook_event.transcript))
    call, result = hook_event.call, read_fields(payload, "toolResult")
    text = read_text(result, "textResultForLlm")
    code = re.search(_EXIT, text[-2000:])
    failed = result.get("resultType", "success") != "success" or (code and code[1] != "0")
    if not call.failed:
        call = call._replace(output=text, failed=bool(failed))
    return hook_event._replace(call=call) if hook_event.kind == "tool" else hook_event


def _find_last_text(transcript: str) -> str:
    """Return the last text of the agent in a transcript, which the event does not tell."""
    for record in end_of(transcript, _TAIL, '"assistant.message"') if transcript else ():
        if record.get("type") == "assistant.message":
            return read_text(read_fields(record, "data"), "content")
    return ""


def answer(event: str, kind: str, text: str) -> dict[str, object] | None:  # noqa: ARG001
    """Return the JSON by which the client adds a text to the session."""
    return {"additionalContext": text} if kind != "stop" else None


def instructions(project: Path) -> dict[Path, str]:
    """Return the texts of instructions that the program loads, by their files: all of them."""
    names = (".github/copilot-instructions.md", AGENTS, "CLAUDE.md", "GEMINI.md")
    folders = (".github/instructions", ".claude/rules")
    more = [file for name in folders for file in sorted((project / name).rglob("*.md"))]
    return read_texts(project, [*(project / name for name in names), *more], imports=True)
