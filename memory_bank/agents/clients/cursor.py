"""Cursor: https://cursor.com/docs/agent/hooks, as of 2026-04."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from memory_bank.agents.clients.base import HookEvent, Kind
from memory_bank.agents.instructions import AGENTS, read_texts
from memory_bank.agents.payload import (
    Payload,
    digest,
    message_key,
    parse_json,
    read_identifier,
    read_project,
    read_text,
)
from memory_bank.agents.typed_prompt import strip_program_text
from memory_bank.sessions.queue_rows import MESSAGE

if TYPE_CHECKING:
    from memory_bank.agents.client_files import HookClient, McpClient

NAME = "cursor"

EVENTS: dict[str, Kind] = {
    "sessionStart": "start",
    "beforeSubmitPrompt": "prompt",
    "postToolUse": "tool",
    "postToolUseFailure": "tool",
    "afterAgentResponse": "tool",
    "stop": "stop",
    "subagentStop": "subagent",
    "sessionEnd": "end",
}


def read(event: str, payload: Payload) -> HookEvent | None:
    """Return an event in the common form; None if it is to be ignored."""
    session = read_identifier(payload, "conversation_id", "session_id")
    if not session:
        return None
    is_completed = payload.get("status", "completed") == "completed"
    hook_event = HookEvent(
        EVENTS[event],
        session,
        NAME,
        _folder(payload),
        cwd=read_text(payload, "cwd"),
        name=event,
        source=read_text(payload, "composer_mode"),
    )
    if hook_event.kind == "prompt":
        prompt = strip_program_text(read_text(payload, "prompt"))
        return hook_event._replace(prompt=prompt, key=read_identifier(payload, "generation_id"))
    if hook_event.kind == "subagent":
        summary = read_text(payload, "summary")
        if not summary:
            return None
        return hook_event._replace(
            key=f"stop {read_identifier(payload, 'generation_id')} {digest(summary)}",
            tool_name="Task",
            tool_input={"description": read_text(payload, "subagent_type")},
            tool_output={"output": summary, "modified_files": payload.get("modified_files")},
            failed=not is_completed,
        )
    return _tool(hook_event, payload) if hook_event.kind == "tool" else hook_event


def _folder(payload: Payload) -> str:
    roots = payload.get("workspace_roots")
    first = roots[0] if isinstance(roots, list) and roots else ""
    if not (isinstance(first, str) and os.path.isabs(first)):
        first = read_text(payload, "cwd")
    return read_project({"cwd": first}, "CURSOR_PROJECT_DIR")


def _tool(event: HookEvent, payload: Payload) -> HookEvent | None:
    failed = event.name == "postToolUseFailure"
    if event.name == "afterAgentResponse":
        last = read_text(payload, "text")
        reply = event._replace(key=message_key(last), tool_name=MESSAGE, tool_output=last)
        return reply if last.strip() else None
    name = read_text(payload, "tool_name")
    result = payload.get("error_message") if failed else parse_json(payload.get("tool_output"))
    if not name:
        return None
    return event._replace(
        key=read_identifier(payload, "tool_use_id"),
        tool_name=name,
        tool_input=parse_json(payload.get("tool_input")),
        tool_output=result,
        failed=failed,
    )


def answer(event: str, kind: str, text: str) -> dict[str, object] | None:  # noqa: ARG001
    """Return the JSON by which the client adds a text to the start of a session.

    It takes no context with a prompt: `beforeSubmitPrompt` may only allow or stop it.
    """
    return {"additional_context": text} if kind == "start" else None


def instructions(project: Path) -> dict[Path, str]:
    """Return the texts of instructions that the program loads, by their files."""
    return read_texts(
        project, [project / AGENTS, *sorted((project / ".cursor/rules").rglob("*.mdc"))]
    )


def mcp() -> McpClient:
    """Return how servers are added to its configuration."""
    from memory_bank.agents.client_files import WORKSPACE, McpClient

    return McpClient(
        *(NAME, "Cursor", "https://cursor.com/docs/context/mcp"),
        *("~/.cursor/mcp.json", ".cursor/mcp.json"),
        folder=WORKSPACE,
        next_project="turn the server on in its settings, under MCP",
    )


def hooks() -> HookClient:
    """Return how its hooks are set up."""
    from memory_bank.agents.client_files import SECONDS, HookClient

    return HookClient(
        *(NAME, "Cursor", "https://cursor.com/docs/agent/hooks"),
        *("~/.cursor/hooks.json", ".cursor/hooks.json"),
        events=tuple(EVENTS),
        form="flat",
        timeouts={"timeout": SECONDS},
        top={"version": 1},
        next_project="open the project and trust it",
        next_user="nothing: it reads the file again when it changes",
    )
