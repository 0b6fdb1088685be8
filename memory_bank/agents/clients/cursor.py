"""Cursor: https://cursor.com/docs/agent/hooks, as of 2026-04."""

from __future__ import annotations

import os
from pathlib import Path

from memory_bank.agents.clients.base import (
    AGENTS,
    SECONDS,
    WORKSPACE,
    EventTable,
    HookEvent,
    Kind,
    ToolCall,
    read_texts,
)
from memory_bank.agents.payload import (
    Payload,
    digest,
    message_key,
    parse_json,
    read_identifier,
    read_project,
    read_text,
)
from memory_bank.sessions.queue_rows import MESSAGE

NAME, TITLE = "cursor", "Cursor"

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

SERVER = {
    "docs": "https://cursor.com/docs/context/mcp",
    "user_file": "~/.cursor/mcp.json",
    "project_file": ".cursor/mcp.json",
    "folder": WORKSPACE,
    "next_project": "turn the server on in its settings, under MCP",
}

HOOKS = {
    "docs": "https://cursor.com/docs/agent/hooks",
    "user_file": "~/.cursor/hooks.json",
    "project_file": ".cursor/hooks.json",
    "form": "flat",
    "timeouts": {"timeout": SECONDS},
    "top": {"version": 1},
    "next_project": "open the project and trust it",
    "next_user": "nothing: it reads the file again when it changes",
}


_TABLE = EventTable(
    *(NAME, EVENTS),
    session=("conversation_id", "session_id"),
    source="composer_mode",
    prompt_id="generation_id",
    tool_output="tool_output",
    error="error_message",
)


def read(event: str, payload: Payload) -> HookEvent | None:
    """Return an event in the common form; None if it is to be ignored."""
    if event == "afterAgentResponse":
        payload = {**payload, "tool_name": MESSAGE, "tool_output": read_text(payload, "text")}
    hook_event = _TABLE.read(event, payload)
    if hook_event is None:
        return None
    hook_event = hook_event._replace(folder=_find_folder(payload))
    call = hook_event.call
    if hook_event.kind == "subagent":
        return _read_subagent(hook_event, payload)
    if event == "afterAgentResponse":
        reply = hook_event._replace(key=message_key(call.output))
        return reply if call.output.strip() else None
    return hook_event._replace(call=call._replace(output=parse_json(call.output)))


def _read_subagent(event: HookEvent, payload: Payload) -> HookEvent | None:
    summary = read_text(payload, "summary")
    call = ToolCall(
        "Task",
        {"description": read_text(payload, "subagent_type")},
        {"output": summary, "modified_files": payload.get("modified_files")},
        failed=payload.get("status", "completed") != "completed",
    )
    key = f"stop {read_identifier(payload, 'generation_id')} {digest(summary)}"
    return event._replace(key=key, call=call) if summary else None


def _find_folder(payload: Payload) -> str:
    roots = payload.get("workspace_roots")
    first = roots[0] if isinstance(roots, list) and roots else ""
    if not (isinstance(first, str) and os.path.isabs(first)):
        first = read_text(payload, "cwd")
    return read_project({"cwd": first}, "CURSOR_PROJECT_DIR")


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
