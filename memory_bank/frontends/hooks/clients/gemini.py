"""Gemini CLI: https://geminicli.com/docs/hooks.

Its event PreCompress is left out, since it comes before each call of the model.
"""

from __future__ import annotations

import re

from memory_bank.actions.capture import HookEvent, Kind
from memory_bank.frontends.hooks import payload as fields
from memory_bank.frontends.hooks.payload import Payload

NAME = "gemini"
EVENTS: dict[str, Kind] = {
    "SessionStart": "start",
    "BeforeAgent": "prompt",
    "AfterTool": "tool",
    "AfterAgent": "stop",
    "SessionEnd": "end",
}

_CONTEXT = r"\s*<hook_context>.*?</hook_context>\s*"
"""What a hook added before a prompt."""
_EXIT = r"^Exit Code: (-?\d{1,5})\s*$"


def read(event: str, payload: Payload) -> HookEvent | None:
    """Return an event in the common form; None if it is to be ignored."""
    session = fields.identifier(payload, "session_id")
    if not session:
        return None
    moment = fields.text(payload, "timestamp")
    found = HookEvent(
        EVENTS[event],
        session,
        NAME,
        fields.project(payload, "GEMINI_PROJECT_DIR"),
        cwd=fields.text(payload, "cwd"),
        name=event,
        created_at=fields.seconds(moment),
        transcript=fields.text(payload, "transcript_path"),
        source=fields.text(payload, "source"),
        asking=not payload.get("stop_hook_active"),
    )
    if found.kind == "prompt":
        prompt = _typed(fields.text(payload, "prompt"))
        key = f"{moment} {fields.digest(prompt)}" if moment else ""
        return found._replace(prompt=prompt, key=key) if prompt.strip() else None
    return _tool(found, payload, moment) if found.kind == "tool" else found


def _typed(prompt: str) -> str:
    """Return a prompt without what hooks added before it."""
    while added := re.match(_CONTEXT, prompt, re.DOTALL):
        prompt = prompt[added.end() :]
    return prompt


def _tool(found: HookEvent, payload: Payload, moment: str) -> HookEvent | None:
    """Return a call of a tool; the client gives it no id."""
    name, given = fields.text(payload, "tool_name"), payload.get("tool_input")
    response = fields.fields(payload, "tool_response")
    said = response.get("llmContent")
    code = re.search(_EXIT, said[-2000:], re.MULTILINE) if isinstance(said, str) else None
    shown = response.get("returnDisplay")
    if isinstance(shown, dict) and shown.get("fileDiff"):
        shown = fields.without(shown, "originalContent", "newContent")  # the whole file, twice
    if not name:
        return None
    return found._replace(
        key=f"{moment} {fields.digest(name, given)}" if moment else "",
        tool_name=name,
        tool_input=given,
        tool_output={**response, "returnDisplay": shown} if shown else dict(response),
        failed=bool(response.get("error")) or (code is not None and code[1] != "0"),
    )


def answer(event: str, kind: str, text: str) -> dict[str, object] | None:
    """Return the JSON by which the client adds a text to the session, or asks a question."""
    if kind == "stop":
        return {"decision": "deny", "reason": text}
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}


def tokens(transcript: str) -> tuple[int, int]:
    """Return the input tokens, without those that were cached, and the output tokens."""
    messages = dict[str, tuple[int, int]]()
    for record in fields.records(transcript):
        usage = fields.fields(record, "tokens")
        if record.get("type") == "gemini" and usage:
            given = fields.number(usage.get("input")) - fields.number(usage.get("cached"))
            # a line replaces the earlier one of its id
            messages[fields.text(record, "id")] = max(0, given), fields.number(usage.get("output"))
    return sum(one for one, _ in messages.values()), sum(two for _, two in messages.values())
