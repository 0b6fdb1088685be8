"""Claude Code: https://code.claude.com/docs/en/hooks."""

from __future__ import annotations

import os

from memory_bank.actions.capture import HookEvent, Kind
from memory_bank.frontends.hooks import payload as fields
from memory_bank.frontends.hooks.payload import Payload

NAME = "claude-code"
EVENTS: dict[str, Kind] = {
    "SessionStart": "start",
    "UserPromptSubmit": "prompt",
    "PostToolUse": "tool",
    "PostToolUseFailure": "tool",
    "PreCompact": "compact",
    "Stop": "stop",
    "SubagentStop": "subagent",
    "SessionEnd": "end",
}

_OTHERS = ("COPILOT_CLI", "CURSOR_VERSION")
"""Variables of other programs, which run the hooks of Claude Code's files too.

They report the same events to their own hooks, in their own form.
"""
_MACHINE = "<task-notification>"
"""Start of a prompt that no person wrote."""


def read(event: str, payload: Payload) -> HookEvent | None:
    """Return an event in the common form; None if it is to be ignored."""
    session = fields.identifier(payload, "session_id")
    if not session or any(name in os.environ for name in _OTHERS):
        return None
    found = HookEvent(
        EVENTS[event],
        session,
        NAME,
        fields.project(payload, "CLAUDE_PROJECT_DIR"),
        cwd=fields.text(payload, "cwd"),
        name=event,
        transcript=fields.text(payload, "transcript_path"),
        source=fields.text(payload, "source"),
        asking=not payload.get("stop_hook_active"),
    )
    if found.kind == "prompt":
        prompt = fields.text(payload, "prompt")
        if not prompt.strip() or prompt.lstrip().startswith(_MACHINE):
            return None
        return found._replace(prompt=prompt, key=fields.identifier(payload, "prompt_id"))
    if found.kind == "subagent":
        return _subagent(found, payload)
    return _tool(found, payload) if found.kind == "tool" else found


def _tool(found: HookEvent, payload: Payload) -> HookEvent | None:
    failed = found.name == "PostToolUseFailure"
    name = fields.text(payload, "tool_name")
    output = payload.get("error") if failed else payload.get("tool_response")
    if isinstance(output, dict) and output.get("structuredPatch"):
        # the patch says what changed; the rest is the whole file before and after
        output = {key: output[key] for key in output if key not in ("originalFile", "content")}
    if not name:
        return None
    return found._replace(
        key=fields.identifier(payload, "tool_use_id"),
        tool_name=name,
        tool_input=payload.get("tool_input"),
        tool_output=output,
        failed=failed,
    )


def _subagent(found: HookEvent, payload: Payload) -> HookEvent | None:
    """Return what an agent reports that was started by another; compaction is none."""
    kind, said = fields.text(payload, "agent_type"), fields.text(payload, "last_assistant_message")
    if not (kind and said):
        return None
    agent = fields.identifier(payload, "agent_id")
    return found._replace(
        key=f"stop {agent} {fields.digest(said)}",
        tool_name="Agent",
        tool_input={"subagent_type": kind},
        tool_output=said,
    )


def answer(event: str, kind: str, text: str) -> dict[str, object] | None:
    """Return the JSON by which the client adds a text to the session, or asks a question."""
    if kind == "stop":
        return {"decision": "block", "reason": text}
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}


def tokens(transcript: str) -> tuple[int, int]:
    """Return the input tokens, without those that were cached, and the output tokens."""
    messages = dict[str, tuple[int, int]]()
    for record in fields.records(transcript):
        message = fields.fields(record, "message")
        usage = fields.fields(message, "usage")
        if record.get("type") == "assistant" and usage:
            given = fields.number(usage.get("input_tokens"))
            given += fields.number(usage.get("cache_creation_input_tokens"))
            # a message has a line for each of its parts, each with the usage so far
            name = fields.text(message, "id")
            messages[name] = given, fields.number(usage.get("output_tokens"))
    return sum(one for one, _ in messages.values()), sum(two for _, two in messages.values())
