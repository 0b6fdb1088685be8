"""Copilot CLI: its hooks.

https://docs.github.com/en/copilot/reference/hooks-configuration
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from memory_bank.agents.clients.base import HookEvent, Kind, event_of
from memory_bank.agents.instructions import AGENTS, read_texts
from memory_bank.agents.payload import (
    Payload,
    digest,
    end_of,
    parse_json,
    read_fields,
    read_identifier,
    read_seconds,
    read_text,
)
from memory_bank.agents.typed_prompt import strip_program_text

if TYPE_CHECKING:
    from memory_bank.agents.client_files import HookClient, McpClient

NAME = "copilot"

EVENTS: dict[str, Kind] = {
    "sessionStart": "start",
    "userPromptSubmitted": "prompt",
    "postToolUse": "tool",
    "postToolUseFailure": "tool",
    "agentStop": "stop",
    "sessionEnd": "end",
}

_TAIL = 400_000
"""Bytes at the end of a transcript in which the agent's last text is looked for."""

_EXIT = r"<shellId: [^\s>]{1,40} completed with exit code (-?\d{1,5})>"


def read(event: str, payload: Payload) -> HookEvent | None:
    """Return an event in the common form; None if it is to be ignored."""
    session = read_identifier(payload, "sessionId")
    if not session:
        return None
    moment = payload.get("timestamp")
    hook_event = event_of(event, EVENTS[event], session, NAME, payload, "COPILOT_PROJECT_DIR")
    hook_event = hook_event._replace(created_at=read_seconds(moment))
    if hook_event.kind == "stop":
        return hook_event._replace(said=_last_text(hook_event.transcript))
    if hook_event.kind == "prompt":
        prompt = strip_program_text(read_text(payload, "prompt"))
        return hook_event._replace(prompt=prompt, key=digest(moment, prompt) if moment else "")
    return _tool(hook_event, payload, moment) if hook_event.kind == "tool" else hook_event


def _last_text(transcript: str) -> str:
    """Return the last text of the agent in a transcript, which the event does not tell."""
    for record in end_of(transcript, _TAIL, '"assistant.message"') if transcript else ():
        if record.get("type") == "assistant.message":
            return read_text(read_fields(record, "data"), "content")
    return ""


def _tool(event: HookEvent, payload: Payload, moment: object) -> HookEvent | None:
    """Return a call of a tool; the client gives it no id."""
    failed = event.name == "postToolUseFailure"
    name, parsed = read_text(payload, "toolName"), parse_json(payload.get("toolArgs"))
    result = read_fields(payload, "toolResult")
    answer_text = read_text(result, "textResultForLlm")
    code = re.search(_EXIT, answer_text[-2000:])
    if not name:
        return None
    return event._replace(
        key=f"{moment} {digest(name, parsed)}" if moment else "",
        tool_name=name,
        tool_input=parsed,
        tool_output=payload.get("error") if failed else answer_text,
        failed=failed
        or result.get("resultType", "success") != "success"
        or (code is not None and code[1] != "0"),
    )


def answer(event: str, kind: str, text: str) -> dict[str, object] | None:  # noqa: ARG001
    """Return the JSON by which the client adds a text to the session."""
    return {"additionalContext": text} if kind != "stop" else None


def instructions(project: Path) -> dict[Path, str]:
    """Return the texts of instructions that the program loads, by their files: all of them."""
    names = (".github/copilot-instructions.md", AGENTS, "CLAUDE.md", "GEMINI.md")
    folders = (".github/instructions", ".claude/rules")
    more = [file for name in folders for file in sorted((project / name).rglob("*.md"))]
    return read_texts(project, [*(project / name for name in names), *more], imports=True)


def mcp() -> McpClient:
    """Return how servers are added to its configuration."""
    from memory_bank.agents.client_files import STRICT, McpClient

    return McpClient(
        *(NAME, "Copilot CLI"),
        "https://docs.github.com/en/copilot/how-tos/copilot-cli/customize-copilot/add-mcp-servers",
        *("~/.copilot/mcp-config.json", ".mcp.json"),
        editor=STRICT,
        extra={"type": "stdio", "tools": ["*"]},
        home="COPILOT_HOME",
        next_project="start it in the project and trust the folder",
    )


def hooks() -> HookClient:
    """Return how its hooks are set up."""
    from memory_bank.agents.client_files import SECONDS, HookClient

    return HookClient(
        *(NAME, "Copilot CLI"),
        "https://docs.github.com/en/copilot/reference/hooks-configuration",
        *("~/.copilot/hooks/memory-bank.json", ".github/hooks/memory-bank.json"),
        events=tuple(EVENTS),
        form="flat",
        command_keys=("bash", "powershell"),
        extra={"type": "command"},
        timeouts={"timeoutSec": SECONDS},
        top={"version": 1},
        next_project="start it in the project and trust the folder: else it runs no hooks of it",
    )
