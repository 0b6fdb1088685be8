"""Codex CLI: https://developers.openai.com/codex/hooks."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memory_bank.actions.capture import HookEvent, Kind
from memory_bank.frontends.hooks import payload as fields
from memory_bank.frontends.hooks.payload import Payload

NAME = "codex"
EVENTS: dict[str, Kind] = {
    "SessionStart": "start",
    "UserPromptSubmit": "prompt",
    "PostToolUse": "tool",
    "PreCompact": "compact",
    "Stop": "stop",
    "SubagentStop": "subagent",
    "SessionEnd": "end",
}

_TAIL = 400_000
"""Bytes at the end of the transcript in which the exit code of a command is looked for."""
_TURN = 4_000_000
"""Bytes at the end of the transcript in which edits are looked for that no hook was told of."""
_HEADS = {"add": "Add", "delete": "Delete"}
_STATED = r"\s*Exit code: (-?\d{1,5})\b"


def read(event: str, payload: Payload) -> HookEvent | None:
    """Return an event in the common form; None if it is to be ignored."""
    session = fields.identifier(payload, "session_id")
    if not session:
        return None
    found = HookEvent(
        EVENTS[event],
        session,
        NAME,
        fields.project(payload),
        cwd=fields.text(payload, "cwd"),
        name=event,
        transcript=fields.text(payload, "transcript_path"),
        source=fields.text(payload, "source"),
        asking=not payload.get("stop_hook_active"),
    )
    if found.kind == "prompt":
        prompt = fields.text(payload, "prompt")
        turn = fields.identifier(payload, "turn_id")
        # a turn may be steered by more prompts
        key = f"{turn} {fields.digest(prompt)}" if turn else ""
        return found._replace(prompt=prompt, key=key) if prompt.strip() else None
    if found.kind == "subagent":
        said = fields.text(payload, "last_assistant_message")
        kind = fields.text(payload, "agent_type")
        agent = fields.identifier(payload, "agent_id")
        if not said:
            return None
        return found._replace(
            key=f"stop {agent} {fields.digest(said)}",
            tool_name="Agent",
            tool_input={"subagent_type": kind},
            tool_output=said,
        )
    return _tool(found, payload) if found.kind == "tool" else found


def _tool(found: HookEvent, payload: Payload) -> HookEvent | None:
    """Return a call of a tool, with the exit code that only the transcript has."""
    name, call = fields.text(payload, "tool_name"), fields.identifier(payload, "tool_use_id")
    output = payload.get("tool_response")
    failed = False
    if isinstance(output, str):
        code = _exit_code(found.transcript, call) if name == "Bash" else None
        stated = re.match(_STATED, output)
        failed = code not in (None, 0) or (stated is not None and stated[1] != "0")
        if code is not None:
            output = {"output": output, "exit_code": code}
    elif isinstance(output, dict):
        failed = output.get("isError") is True
    if not name:
        return None
    return found._replace(
        key=call,
        tool_name=name,
        tool_input=payload.get("tool_input"),
        tool_output=output,
        failed=failed,
    )


def unreported(event: HookEvent) -> Iterator[HookEvent]:
    """Yield the edits at the end of the transcript, first ones first.

    The program takes over `apply_patch` in a command of the shell, and tells no hook of it.
    """
    found = fields.end_of(event.transcript, _TURN, '"FileChange"') if event.transcript else ()
    for record in reversed(list(found)):
        item = fields.fields(fields.fields(record, "payload"), "item")
        call, changes = fields.identifier(item, "id"), fields.fields(item, "changes")
        if item.get("type") == "FileChange" and call and changes:
            yield event._replace(
                kind="tool",
                key=call,
                tool_name="apply_patch",
                tool_input={"command": _patch(changes)},
                tool_output=fields.text(item, "stderr", "stdout"),
                failed=item.get("status") != "completed",
                created_at=fields.seconds(record.get("timestamp")),
            )


def _patch(changes: Payload) -> str:
    """Return the changes of files in the form of `apply_patch`."""
    lines = ["*** Begin Patch"]
    for path in changes:
        change = fields.fields(changes, path)
        kind = fields.text(change, "type")
        lines.append(f"*** {_HEADS.get(kind, 'Update')} File: {path}")
        if moved := fields.text(change, "move_path"):
            lines.append(f"*** Move to: {moved}")
        lines += fields.text(change, "unified_diff").splitlines()
        if kind == "add":
            lines += [f"+{line}" for line in fields.text(change, "content").splitlines()]
    return "\n".join([*lines, "*** End Patch\n"])


def _exit_code(transcript: str, call: str) -> int | None:
    for record in fields.end_of(transcript, _TAIL, call) if transcript and call else ():
        item = fields.fields(fields.fields(record, "payload"), "item")
        code = item.get("exit_code")
        if item.get("id") == call and isinstance(code, int) and not isinstance(code, bool):
            return code
    return None


def answer(event: str, kind: str, text: str) -> dict[str, object] | None:
    """Return the JSON by which the client adds a text to the session, or asks a question.

    It refuses any other key.
    """
    if kind == "stop":
        return {"decision": "block", "reason": text}
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}


def tokens(transcript: str) -> tuple[int, int]:
    """Return the input tokens, without those that were cached, and the output tokens."""
    usage: Payload = {}
    for record in fields.records(transcript):
        info = fields.fields(fields.fields(record, "payload"), "info")
        usage = fields.fields(info, "total_token_usage") or usage
    given = fields.number(usage.get("input_tokens"))
    cached = fields.number(usage.get("cached_input_tokens"))
    return max(0, given - cached), fields.number(usage.get("output_tokens"))
