"""Write a session that Claude Code recorded as other programs would have: Gemini CLI, Copilot CLI, OpenCode.

python -m tests.benchmarks.transcript_forms FOLDER OUT

Each `*/claude.jsonl` below FOLDER becomes `gemini.jsonl`, `copilot.jsonl` and `opencode.jsonl` in the
folder of this name in OUT, beside links to its other files. The forms are those of `tests/sessions/transcripts`.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

Line = dict[str, Any]

_TOOLS: Mapping[str, tuple[str, str, str]] = {
    "Read": ("read_file", "view", "read"),
    "Edit": ("replace", "edit", "edit"),
    "Write": ("write_file", "create", "write"),
    "Bash": ("run_shell_command", "bash", "bash"),
    "Grep": ("grep_search", "grep", "grep"),
    "Glob": ("glob", "glob", "glob"),
    "TodoWrite": ("write_todos", "update_todo", "todowrite"),
    "Agent": ("delegate_to_agent", "task", "task"),
    "Task": ("delegate_to_agent", "task", "task"),
}
"""The tools of Claude Code as Gemini, Copilot and OpenCode name them."""

_COPILOT = {"file_path": "path", "old_string": "old_str", "new_string": "new_str", "content": "file_text"}  # fmt: skip

_OPENCODE = {"file_path": "filePath", "old_string": "oldString", "new_string": "newString"}


class Step(NamedTuple):
    """A prompt, a text of the agent, or a call of a tool with its result."""

    kind: str
    text: str
    """Of a call, what it returned, without an exit code before it."""
    when: str
    name: str = ""
    given: Line = {}  # noqa: RUF012  (never changed)
    id: str = ""
    failed: bool = False
    code: int = 0
    new: bool = False
    """Whether it made a file."""


def steps_of(lines: Sequence[Line]) -> Iterator[Step]:
    """Yield the steps of a transcript of Claude Code, without what it adds itself."""
    begun = dict[str, Line]()
    for line in lines:
        content, when = line.get("message", {}).get("content"), line.get("timestamp", "")
        if line.get("isSidechain") or line.get("isCompactSummary") or line.get("isMeta"):
            continue
        if isinstance(content, str):
            yield Step("prompt", content, when)
        for block in content if isinstance(content, list) else ():
            if block["type"] == "text":
                yield Step("prompt" if line["type"] == "user" else "said", block["text"], when)
            elif block["type"] == "tool_use":
                begun[block["id"]] = block
            elif block["type"] == "tool_result" and block["tool_use_id"] in begun:
                yield _called(begun.pop(block["tool_use_id"]), block, line, when)


def _called(call: Line, result: Line, line: Line, when: str) -> Step:
    said = result.get("content", "")
    text = said if isinstance(said, str) else "\n".join(one.get("text", "") for one in said)
    code = re.match(r"(?:Error: )?Exit code (\d+)\n?", text)
    answer = line.get("toolUseResult")
    new = isinstance(answer, dict) and answer.get("type") == "create"
    failed = bool(result.get("is_error"))
    bare = text[code.end() :] if code else text
    exit_code = int(code[1]) if code else 0
    return Step("call", bare, when, call["name"], call["input"], call["id"], failed, exit_code, new)


def as_gemini(steps: Sequence[Step], session_id: str, cwd: str) -> Iterator[Line]:
    """Yield the lines of a transcript of Gemini CLI."""
    yield {"sessionId": session_id, "startTime": steps[0].when, "kind": "main"}
    for number, step in enumerate(steps):
        line: Line = {"id": f"m-{number}", "timestamp": step.when}
        if step.kind == "prompt":
            yield line | {"type": "user", "content": [{"text": step.text}]}
            continue
        call = [_gemini_call(step)] if step.kind == "call" else []
        said = "" if call else step.text
        yield line | {"type": "gemini", "content": said, "tokens": {}, "toolCalls": call}


def _gemini_call(step: Step) -> Line:
    output, shown = step.text, step.text  # type: str, object
    if step.name == "Bash":
        code = f"\nExit Code: {step.code}" if step.code else ""
        end = f"{code}\nProcess Group PGID: 940\n</untrusted_context>"
        output = f"<untrusted_context>\nOutput: {step.text}{end}"
    elif step.name in ("Edit", "Write"):
        shown = {"filePath": step.given["file_path"], "isNewFile": step.new}
    error = step.failed and step.name != "Bash"
    return {
        "id": step.id,
        "name": _TOOLS[step.name][0],
        "args": step.given,
        "result": [{"functionResponse": {"response": {"error" if error else "output": output}}}],
        "status": "error" if error else "success",
        "timestamp": step.when,
        "resultDisplay": shown,
    }


def as_copilot(steps: Sequence[Step], session_id: str, cwd: str) -> Iterator[Line]:
    """Yield the lines of the events of Copilot CLI."""
    context = {"cwd": cwd, "gitRoot": cwd, "branch": "main"}
    start: Line = {"sessionId": session_id, "context": context}
    yield {"type": "session.start", "data": start, "timestamp": steps[0].when}
    for step in steps:
        if step.kind != "call":
            kind = "user.message" if step.kind == "prompt" else "assistant.message"
            yield {"type": kind, "data": {"content": step.text}, "timestamp": step.when}
            continue
        called = {"toolCallId": step.id, "toolName": _TOOLS[step.name][1]}
        given = {_COPILOT.get(key, key): value for key, value in step.given.items()}
        begun = called | {"arguments": given}
        yield {"type": "tool.execution_start", "data": begun, "timestamp": step.when}
        bash = step.name == "Bash"
        end = f"\n<shellId: 0 completed with exit code {step.code}>" if bash else ""
        good = bash or not step.failed
        told = {"result" if good else "error": {"content" if good else "message": step.text + end}}
        done = {"toolCallId": step.id, "success": good, **told}
        yield {"type": "tool.execution_complete", "data": done, "timestamp": step.when}


def as_opencode(steps: Sequence[Step], session_id: str, cwd: str) -> Iterator[Line]:
    """Yield the header and the messages of a session of OpenCode."""
    yield {"info": {"id": session_id, "directory": cwd}}
    for number, step in enumerate(steps):
        when = int(datetime.fromisoformat(step.when).timestamp() * 1000)
        role = "user" if step.kind == "prompt" else "assistant"
        part: Line = {"type": "text", "text": step.text}
        if step.kind == "call":
            part = {"type": "tool", "tool": _TOOLS[step.name][2], "callID": step.id, "state": _state(step, when)}  # fmt: skip
        info = {"id": f"msg_{number:04}", "role": role, "time": {"created": when}}
        yield {"info": info, "parts": [part]}


def _state(step: Step, when: int) -> Line:
    given = {_OPENCODE.get(key, key): value for key, value in step.given.items()}
    state: Line = {"input": given, "time": {"start": when, "end": when}}
    if step.failed and step.name != "Bash":
        return state | {"status": "error", "error": step.text}
    metadata: Line = {"exit": step.code} if step.name == "Bash" else {}
    if step.name == "Write":
        metadata = {"exists": not step.new}
    return state | {"status": "completed", "output": step.text, "metadata": metadata}


FORMS: Mapping[str, Callable[[Sequence[Step], str, str], Iterator[Line]]] = {
    "gemini": as_gemini,
    "copilot": as_copilot,
    "opencode": as_opencode,
}


def converted(file: Path, client: str) -> str:
    """Return a transcript of Claude Code in the form of another program."""
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    first = next(line for line in lines if line.get("cwd"))
    made = FORMS[client](list(steps_of(lines)), first["sessionId"], first["cwd"])
    return "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in made)


def main() -> None:
    """Convert all sessions of a folder."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    args = parser.parse_args()
    for file in sorted(args.folder.glob("*/claude.jsonl")):
        out = args.out / file.parent.name
        out.mkdir(parents=True)
        for other in file.parent.iterdir():
            (out / other.name).symlink_to(other.resolve())
        for client in FORMS:
            (out / f"{client}.jsonl").write_text(converted(file, client))


if __name__ == "__main__":
    main()
