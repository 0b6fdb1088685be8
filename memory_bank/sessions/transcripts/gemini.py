"""Transcripts of Gemini CLI: `~/.gemini/tmp/PROJECT/chats/session-TIME-ID.jsonl`.

Seen in 0.61.0; older files have one JSON value and end in `.json`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from memory_bank.sessions.transcripts import lines
from memory_bank.sessions.transcripts.base import Transcript, TranscriptCall, TranscriptPrompt
from memory_bank.sessions.transcripts.lines import Line

NAME = "gemini"
_INJECTED = re.compile(r"\s*<(hook_context|session_context)>.*?(?:</\1>|\Z)", re.DOTALL)
_CODE = re.compile(r"^Exit Code: (-?\d+)", re.MULTILINE)
_MOST_ROOT = 4096


def files(environment: Mapping[str, str]) -> Iterator[Path]:
    """Yield the transcripts on this machine."""
    root = environment.get("GEMINI_CLI_HOME") or environment.get("HOME", "")
    yield from lines.listed(Path(root) / ".gemini" / "tmp", "*/chats/*session-*.json*")


def folder(file: Path) -> str:
    """Return the folder of the project, which stands in a file beside the chats."""
    with suppress(OSError, UnicodeDecodeError), (file.parents[1] / ".project_root").open() as root:
        return root.read(_MOST_ROOT).strip()
    return ""


def read(file: Path) -> Transcript:
    """Return the session of a file. Raises OSError."""
    made = Transcript(file, session_id=file.stem, cwd=folder(file))
    messages = dict[str, Line]()
    if file.suffix == ".json":
        with file.open("rb") as whole:
            found = lines.parsed(whole.read(lines.MOST_FILE))
        _take(found if isinstance(found, dict) else {}, made, messages)
    else:
        for line in lines.read(file, made.skipped):
            _take(line, made, messages)
    for message in messages.values():
        _message(message, made)
    made.steps.sort(key=lambda step: step.created_at)
    return made


def _take(line: Line, made: Transcript, messages: dict[str, Line]) -> None:
    """Add a line: the header, a message, or a change of some fields.

    A message of a known id replaces it. A list of messages, written when a session is resumed,
    tells less of those that are known.
    """
    changed = lines.fields(line, "$set")
    for message in (*lines.items(line, "messages"), *lines.items(changed, "messages")):
        messages.setdefault(lines.text(message, "id") or str(len(messages)), message)
    if found := lines.identifier(line, "sessionId"):
        made.session_id = found
        made.saw(lines.seconds(line.get("startTime")))
    elif (name := lines.text(line, "id")) and lines.text(line, "type"):
        calls = line.get("toolCalls") or messages.get(name, {}).get("toolCalls")
        messages[name] = {**line, "toolCalls": calls}
    elif not changed:
        made.skipped["no prompt or call"] += 1
    made.saw(lines.seconds(changed.get("lastUpdated")))


def _message(message: Line, made: Transcript) -> None:
    when = lines.seconds(message.get("timestamp"))
    made.saw(when)
    if message.get("type") == "user":
        text = _INJECTED.sub("", lines.texts(message.get("content"))).strip()
        if text:
            made.steps.append(TranscriptPrompt(text, when))
        return
    tokens = lines.fields(message, "tokens")
    given = lines.number(tokens.get("input")) - lines.number(tokens.get("cached"))
    made.input_tokens += max(0, given)
    made.output_tokens += lines.number(tokens.get("output"))
    for call in lines.items(message, "toolCalls"):
        made.steps.append(_call(call, when, made.cwd))


def _call(call: Line, when: float, cwd: str) -> TranscriptCall:
    said, error = list[str](), ""
    for part in lines.items(call, "result"):
        response = lines.fields(lines.fields(part, "functionResponse"), "response")
        said.append(lines.text(response, "output"))
        error = error or lines.text(response, "error")
    text = "\n".join(filter(None, said))
    code = _CODE.search(text)
    exited = code is not None and code[1] != "0"
    output: dict[str, Any] = {"llmContent": text, "returnDisplay": call.get("resultDisplay")}
    if error:
        output["error"] = error
    failed = bool(error) or call.get("status") == "error" or exited
    done = lines.seconds(call.get("timestamp")) or when
    name, key = lines.text(call, "name"), lines.identifier(call, "id")
    return TranscriptCall(name, call.get("args"), output, done, key, failed, cwd)
