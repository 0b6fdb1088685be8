"""Cursor: https://cursor.com/docs/agent/hooks, as of 2026-04."""

from __future__ import annotations

import os

from memory_bank.actions.capture import HookEvent, Kind
from memory_bank.frontends.hooks import payload as fields
from memory_bank.frontends.hooks.payload import Payload

NAME = "cursor"
EVENTS: dict[str, Kind] = {
    "sessionStart": "start",
    "beforeSubmitPrompt": "prompt",
    "postToolUse": "tool",
    "postToolUseFailure": "tool",
    "stop": "stop",
    "subagentStop": "subagent",
    "sessionEnd": "end",
}


def read(event: str, payload: Payload) -> HookEvent | None:
    """Return an event in the common form; None if it is to be ignored."""
    session = fields.identifier(payload, "conversation_id", "session_id")
    if not session:
        return None
    done = payload.get("status", "completed") == "completed"
    found = HookEvent(
        EVENTS[event],
        session,
        NAME,
        _folder(payload),
        cwd=fields.text(payload, "cwd"),
        name=event,
        source=fields.text(payload, "composer_mode"),
        asking=done and not payload.get("loop_count"),
    )
    if found.kind == "prompt":
        prompt = fields.text(payload, "prompt")
        key = fields.identifier(payload, "generation_id")
        return found._replace(prompt=prompt, key=key) if prompt.strip() else None
    if found.kind == "subagent":
        said = fields.text(payload, "summary")
        if not said:
            return None
        return found._replace(
            key=f"stop {fields.identifier(payload, 'generation_id')} {fields.digest(said)}",
            tool_name="Task",
            tool_input={"description": fields.text(payload, "subagent_type")},
            tool_output={"output": said, "modified_files": payload.get("modified_files")},
            failed=not done,
        )
    return _tool(found, payload) if found.kind == "tool" else found


def _folder(payload: Payload) -> str:
    roots = payload.get("workspace_roots")
    first = roots[0] if isinstance(roots, list) and roots else ""
    if not (isinstance(first, str) and os.path.isabs(first)):
        first = fields.text(payload, "cwd")
    return fields.project({"cwd": first}, "CURSOR_PROJECT_DIR")


def _tool(found: HookEvent, payload: Payload) -> HookEvent | None:
    failed = found.name == "postToolUseFailure"
    name = fields.text(payload, "tool_name")
    said = payload.get("error_message") if failed else fields.parsed(payload.get("tool_output"))
    if not name:
        return None
    return found._replace(
        key=fields.identifier(payload, "tool_use_id"),
        tool_name=name,
        tool_input=fields.parsed(payload.get("tool_input")),
        tool_output=said,
        failed=failed,
    )


def answer(event: str, kind: str, text: str) -> dict[str, object] | None:  # noqa: ARG001
    """Return the JSON by which the client adds a text to the session, or asks a question.

    It takes no context with a prompt: `beforeSubmitPrompt` may only allow or stop it.
    """
    names = {"start": "additional_context", "stop": "followup_message"}
    return {names[kind]: text} if kind in names else None


def tokens(transcript: str) -> tuple[int, int]:  # noqa: ARG001
    """Return zeros: its transcripts have no tokens."""
    return 0, 0
