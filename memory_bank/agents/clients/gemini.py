"""Gemini CLI: its hooks, and its transcripts in `~/.gemini/tmp/PROJECT/chats/`.

Its event PreCompress is left out, since it comes before each call of the model.

Seen in 0.61.0; older files have one JSON value and end in `.json`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory_bank.agents import payload, transcript_lines
from memory_bank.agents.clients.base import (
    HookEvent,
    Kind,
    Transcript,
    answered,
    call_step,
    event_of,
    message_step,
    prompt_step,
)
from memory_bank.agents.payload import Payload, digest, fields, identifier, seconds, text, without
from memory_bank.agents.transcript_lines import Line

if TYPE_CHECKING:
    from memory_bank.agents.client_files import HookClient, McpClient

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
    session = identifier(payload, "session_id")
    if not session:
        return None
    moment = text(payload, "timestamp")
    found = event_of(event, EVENTS[event], session, NAME, payload, "GEMINI_PROJECT_DIR")
    found = found._replace(created_at=seconds(moment))
    if found.kind == "prompt":
        prompt = _typed(text(payload, "prompt"))
        key = f"{moment} {digest(prompt)}" if moment else ""
        return found._replace(prompt=prompt, key=key) if prompt.strip() else None
    return _tool(found, payload, moment) if found.kind == "tool" else found


def _typed(prompt: str) -> str:
    """Return a prompt without what hooks added before it."""
    while added := re.match(_CONTEXT, prompt, re.DOTALL):
        prompt = prompt[added.end() :]
    return prompt


def _tool(found: HookEvent, payload: Payload, moment: str) -> HookEvent | None:
    """Return a call of a tool; the client gives it no id."""
    name, given = text(payload, "tool_name"), payload.get("tool_input")
    response = fields(payload, "tool_response")
    said = response.get("llmContent")
    code = re.search(_EXIT, said[-2000:], re.MULTILINE) if isinstance(said, str) else None
    shown = response.get("returnDisplay")
    if isinstance(shown, dict) and shown.get("fileDiff"):
        shown = without(shown, "originalContent", "newContent")  # the whole file, twice
    if not name:
        return None
    return found._replace(
        key=f"{moment} {digest(name, given)}" if moment else "",
        tool_name=name,
        tool_input=given,
        tool_output={**response, "returnDisplay": shown} if shown else dict(response),
        failed=bool(response.get("error")) or (code is not None and code[1] != "0"),
    )


answer = partial(answered, stop="deny")


_INJECTED = re.compile(r"\s*<(hook_context|session_context)>.*?(?:</\1>|\Z)", re.DOTALL)

_CODE = re.compile(r"^Exit Code: (-?\d+)", re.MULTILINE)

_MOST_ROOT = 4096


def files(environment: Mapping[str, str]) -> Iterator[Path]:
    """Yield the transcripts on this machine."""
    root = environment.get("GEMINI_CLI_HOME") or environment.get("HOME", "")
    yield from transcript_lines.listed(Path(root) / ".gemini" / "tmp", "*/chats/*session-*.json*")


def folder(file: Path) -> str:
    """Return the folder of the project, which stands in a file beside the chats."""
    with suppress(OSError, UnicodeDecodeError), (file.parents[1] / ".project_root").open() as root:
        return root.read(_MOST_ROOT).strip()
    return ""


def read_transcript(file: Path) -> Transcript:
    """Return the session of a file. Raises OSError."""
    made = Transcript(file, session_id=file.stem, cwd=folder(file))
    messages = dict[str, Line]()
    if file.suffix == ".json":
        with file.open("rb") as whole:
            found = transcript_lines.parsed(whole.read(transcript_lines.MOST_FILE))
        _take(found if isinstance(found, dict) else {}, made, messages)
    else:
        for line in transcript_lines.read(file, made.skipped):
            _take(line, made, messages)
    for message in messages.values():
        _message(message, made)
    made.settle()
    return made


def _take(line: Line, made: Transcript, messages: dict[str, Line]) -> None:
    """Add a line: the header, a message, or a change of some fields.

    A message of a known id replaces it. A list of messages, written when a session is resumed,
    tells less of those that are known.
    """
    changed = fields(line, "$set")
    for message in (
        *transcript_lines.items(line, "messages"),
        *transcript_lines.items(changed, "messages"),
    ):
        messages.setdefault(text(message, "id") or str(len(messages)), message)
    if found := identifier(line, "sessionId"):
        made.session_id = found
        made.saw(seconds(line.get("startTime")))
    elif (name := text(line, "id")) and text(line, "type"):
        calls = line.get("toolCalls") or messages.get(name, {}).get("toolCalls")
        messages[name] = {**line, "toolCalls": calls}
    elif not changed:
        made.skipped["no prompt or call"] += 1
    made.saw(seconds(changed.get("lastUpdated")))


def _message(message: Line, made: Transcript) -> None:
    when = seconds(message.get("timestamp"))
    made.saw(when)
    if message.get("type") == "user":
        text = _INJECTED.sub("", transcript_lines.texts(message.get("content"))).strip()
        if text:
            made.steps.append(prompt_step(text, when))
        return
    tokens = fields(message, "tokens")
    given = payload.number(tokens.get("input")) - payload.number(tokens.get("cached"))
    made.input_tokens += max(0, given)
    made.output_tokens += payload.number(tokens.get("output"))
    said = transcript_lines.texts(message.get("content")).strip()
    made.steps += [message_step(said, when)] if said else []
    for call in transcript_lines.items(message, "toolCalls"):
        made.steps.append(_call(call, when, made.cwd))


def _call(call: Line, when: float, cwd: str) -> HookEvent:
    said, error = list[str](), ""
    for part in transcript_lines.items(call, "result"):
        response = fields(fields(part, "functionResponse"), "response")
        said.append(text(response, "output"))
        error = error or text(response, "error")
    told = "\n".join(filter(None, said))
    code = _CODE.search(told)
    exited = code is not None and code[1] != "0"
    output: dict[str, Any] = {"llmContent": told, "returnDisplay": call.get("resultDisplay")}
    if error:
        output["error"] = error
    failed = bool(error) or call.get("status") == "error" or exited
    done = seconds(call.get("timestamp")) or when
    name, key = text(call, "name"), identifier(call, "id")
    return call_step(name, call.get("args"), output, done, key, failed=failed, cwd=cwd)


def mcp() -> McpClient:
    """Return how servers are added to its configuration."""
    from memory_bank.agents.client_files import McpClient
    from memory_bank.agents.json_file import JsonFile

    return McpClient(
        *(NAME, "Gemini CLI", "https://geminicli.com/docs/tools/mcp-server"),
        *("~/.gemini/settings.json", ".gemini/settings.json"),
        editor=JsonFile(comments=True, byte_order_mark=False),
        next_project="start it in the project and trust the folder",
        next_user="restart it; in a folder that it does not trust it starts no server",
    )


def hooks() -> HookClient:
    """Return how its hooks are set up."""
    from memory_bank.agents.client_files import SECONDS, HookClient
    from memory_bank.agents.json_file import JsonFile

    return HookClient(
        *(NAME, "Gemini CLI", "https://geminicli.com/docs/hooks"),
        *("~/.gemini/settings.json", ".gemini/settings.json"),
        events=tuple(EVENTS),
        editor=JsonFile(comments=True, byte_order_mark=False),
        extra={"type": "command", "name": "memory-bank"},
        timeouts={"timeout": SECONDS * 1000},
        next_project="start it in the project and trust the folder: else it runs no hooks of it",
    )
