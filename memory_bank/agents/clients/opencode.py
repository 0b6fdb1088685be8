"""OpenCode: its plug-in. See https://opencode.ai/docs/plugins.

It starts no commands: our plug-in (`opencode.js`) sends what its hooks were
given, with the folder of the project. No event tells that the program ends: a session ends when it
is idle, and goes on with its next prompt.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from memory_bank.agents.clients.base import (
    AGENTS,
    HookEvent,
    Kind,
    ToolCall,
    list_folders,
    read_texts,
)
from memory_bank.agents.payload import (
    Payload,
    drop_fields,
    read_fields,
    read_identifier,
    read_project,
    read_text,
    strip_program_text,
)

NAME, TITLE = "opencode", "OpenCode"

EVENTS: dict[str, Kind] = {
    "session.created": "start",
    "chat.message": "prompt",
    "tool.execute.after": "tool",
    "message.part.updated": "tool",
    "session.compacted": "compact",
    "session.idle": "end",
    "session.deleted": "end",
}

HOOKS = {
    "docs": "https://opencode.ai/docs/plugins",
    "user_file": "$XDG/opencode/plugins/memory-bank.js",
    "project_file": ".opencode/plugins/memory-bank.js",
    "plugin": Path(__file__).with_name("opencode.js"),
}


def read(event: str, payload: Payload) -> HookEvent | None:
    """Return an event in the common form; None if it is to be ignored."""
    call_input = read_fields(payload, "input")
    session = read_identifier(call_input, "sessionID")
    if not session:
        return None
    folder = read_text(payload, "directory", "worktree")
    hook_event = HookEvent(
        EVENTS[event],
        read_identifier(payload, "parent") or session,
        NAME,
        read_project({"cwd": folder}),
        cwd=folder,
        name=event,
        said=read_text(call_input, "said"),
    )
    if hook_event.kind == "prompt":
        return _read_prompt(hook_event, read_fields(payload, "output"))
    if event == "message.part.updated":
        return _read_failed_call(hook_event, read_fields(call_input, "part"))
    return (
        _read_call(hook_event, call_input, payload.get("output"))
        if hook_event.kind == "tool"
        else hook_event
    )


def _read_prompt(event: HookEvent, output: Payload) -> HookEvent:
    """Return what the user wrote; texts that the program or plug-ins added are left out."""
    parts = output.get("parts")
    texts = [
        read_text(part, "text")
        for part in (parts if isinstance(parts, list) else [])
        if isinstance(part, dict) and part.get("type") == "text" and not part.get("synthetic")
    ]
    prompt = "\n".join(filter(None, texts))
    if prompt[:1] == prompt[-1:] == '"' and prompt.count('"') == 2:  # noqa: PLR2004
        prompt = prompt[1:-1]  # as `opencode run 'two words'` gives it
    key = read_identifier(read_fields(output, "message"), "id")
    return event._replace(prompt=strip_program_text(prompt), key=key)


def _read_call(event: HookEvent, call_input: Payload, output: Any) -> HookEvent | None:  # noqa: ANN401
    name = read_text(call_input, "tool")
    result = output if isinstance(output, dict) else {}
    about = read_fields(result, "metadata")
    if about:
        # its diff is in `filediff`, its output beside it
        entry = drop_fields(about, "diff", "output", "preview", "diagnostics", "display")
        result = {"output": result.get("output"), "metadata": entry}
    if not name:
        return None
    failed = result.get("isError") is True or about.get("exit") not in (None, 0)
    return event._replace(
        key=read_identifier(call_input, "callID"),
        call=ToolCall(name, call_input.get("args"), result, failed),
    )


def _read_failed_call(event: HookEvent, part: Payload) -> HookEvent | None:
    """Return a call of a tool that threw an error, which has no other event."""
    state, name = read_fields(part, "state"), read_text(part, "tool")
    if part.get("type") != "tool" or state.get("status") != "error" or not name:
        return None
    return event._replace(
        key=read_identifier(part, "callID"),
        call=ToolCall(name, state.get("input"), state.get("error"), failed=True),
    )


def answer(event: str, kind: str, text: str) -> dict[str, object] | None:  # noqa: ARG001
    """Return the JSON that our plug-in adds to the system prompt, or to a prompt."""
    return {"context": text} if kind in ("start", "prompt") else None


def instructions(project: Path) -> dict[Path, str]:
    """Return the texts of instructions that the program loads, by their files."""
    return read_texts(project, [folder / AGENTS for folder in list_folders(project)])
