"""Codex CLI: its hooks, and its transcripts in `~/.codex/sessions/`.

Seen in 0.169.0; older files have other lines for the same things. A call that is told in several
ways is taken once, from the line that tells most.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from memory_bank.agents.clients.base import (
    AGENTS,
    SECONDS,
    EventTable,
    HookEvent,
    Kind,
    ToolCall,
    Transcript,
    list_folders,
    make_answer,
    make_call_step,
    make_message_step,
    make_prompt_step,
    read_subagent_report,
    read_texts,
)
from memory_bank.agents.payload import (
    Payload,
    end_of,
    join_texts,
    list_files,
    parse_json,
    read_fields,
    read_first,
    read_identifier,
    read_lines,
    read_number,
    read_seconds,
    read_text,
    strip_program_text,
)
from memory_bank.base import lazy_pattern

NAME, TITLE = "codex", "Codex"

EVENTS: dict[str, Kind] = {
    "SessionStart": "start",
    "UserPromptSubmit": "prompt",
    "PostToolUse": "tool",
    "PreCompact": "compact",
    "Stop": "stop",
    "SubagentStop": "subagent",
    "SessionEnd": "end",
}

SERVER = {
    "docs": "https://developers.openai.com/codex/config-reference",
    "user_file": "~/.codex/config.toml",
    "project_file": ".codex/config.toml",
    "home": "CODEX_HOME",
    "key": "mcp_servers",
    "editor": "toml",
    "extra": {"env_vars": [f"XDG_{kind}_HOME" for kind in ("CONFIG", "STATE", "DATA", "CACHE")]},
    "next_project": "start it in the project and trust the project; else it ignores the file",
}
"""Codex passes variables to a server only if they are named; without those of folders the server
has another private state than commands and hooks."""

HOOKS = {
    "docs": "https://developers.openai.com/codex/hooks",
    "user_file": "~/.codex/hooks.json",
    "project_file": ".codex/hooks.json",
    "home": "CODEX_HOME",
    "extra": {"type": "command"},
    "timeouts": {"timeout": SECONDS},
    "short": {"SessionEnd": 3},
    "next_project": "start it in the project, trust the project, and approve the hooks in /hooks",
    "next_user": "start it and approve the hooks in /hooks: until then it skips them silently",
}

_TAIL = 400_000
"""Bytes at the end of the transcript in which the exit code of a command is looked for."""

_TURN = 4_000_000
"""Bytes at the end of the transcript in which edits are looked for that no hook was told of."""

_HEADS = {"add": "Add", "delete": "Delete"}

_STATED = r"\s*Exit code: (-?\d{1,5})\b"


_TABLE = EventTable(NAME, EVENTS, turn_id="turn_id")


def read(event: str, payload: Payload) -> HookEvent | None:
    """Return an event in the common form; None if it is to be ignored."""
    hook_event = _TABLE.read(event, payload)
    if hook_event is None:
        return None
    if hook_event.kind == "subagent":
        return read_subagent_report(hook_event, payload)
    if hook_event.kind == "stop":
        return hook_event._replace(attended=_is_attended(hook_event.transcript))
    call = hook_event.call
    if isinstance(call.output, str):
        return hook_event._replace(call=_add_exit_code(call, hook_event))
    failed = isinstance(call.output, dict) and call.output.get("isError") is True
    return hook_event._replace(call=call._replace(failed=failed))


_ATTENDED = ("cli", "vscode", "codex_cli_rs", "codex-tui", "codex_vscode")
"""Sources and originators of sessions before which a person sits; `codex exec` has `exec`."""


def _is_attended(transcript: str) -> bool:
    """Return whether the head of a transcript names a program before which a person sits."""
    head = next(read_first(Path(transcript), 1), {}) if transcript else {}
    about = read_fields(head, "payload")
    return (about.get("source") or about.get("originator")) in _ATTENDED


def _add_exit_code(call: ToolCall, event: HookEvent) -> ToolCall:
    """Return a call with the exit code of a command, which only the transcript has."""
    code = _find_exit_code(event.transcript, event.key) if call.name == "Bash" else None
    stated = re.match(_STATED, call.output)
    failed = code not in (None, 0) or (stated is not None and stated[1] != "0")
    output = call.output if code is None else {"output": call.output, "exit_code": code}
    return call._replace(output=output, failed=failed)


def unreported(event: HookEvent) -> Iterator[HookEvent]:
    """Yield the edits at the end of the transcript, first ones first.

    The program takes over `apply_patch` in a command of the shell, and tells no hook of it.
    """
    end = end_of(event.transcript, _TURN, '"FileChange"') if event.transcript else ()
    for record in reversed(list(end)):
        item = read_fields(read_fields(record, "payload"), "item")
        key, changes = read_identifier(item, "id"), read_fields(item, "changes")
        if item.get("type") == "FileChange" and key and changes:
            yield event._replace(
                kind="tool",
                key=key,
                call=ToolCall(
                    "apply_patch",
                    {"command": _write_patch(changes)},
                    read_text(item, "stderr", "stdout"),
                    failed=item.get("status") != "completed",
                ),
                created_at=read_seconds(record.get("timestamp")),
            )


def _write_patch(changes: Payload) -> str:
    """Return the changes of files in the form of `apply_patch`."""
    lines = ["*** Begin Patch"]
    for path in changes:
        change = read_fields(changes, path)
        kind = read_text(change, "type")
        lines.append(f"*** {_HEADS.get(kind, 'Update')} File: {path}")
        if moved := read_text(change, "move_path"):
            lines.append(f"*** Move to: {moved}")
        lines += read_text(change, "unified_diff").splitlines()
        if kind == "add":
            lines += [f"+{line}" for line in read_text(change, "content").splitlines()]
    return "\n".join([*lines, "*** End Patch\n"])


def _find_exit_code(transcript: str, call: str) -> int | None:
    for record in end_of(transcript, _TAIL, call) if transcript and call else ():
        item = read_fields(read_fields(record, "payload"), "item")
        code = item.get("exit_code")
        if item.get("id") == call and isinstance(code, int) and not isinstance(code, bool):
            return code
    return None


answer = make_answer  # it refuses any other key


_ID = lazy_pattern(r"([0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12})$")

_SHELLS = ("shell", "exec_command", "local_shell", "unified_exec", "container.exec")

_CODE = lazy_pattern(
    r"Process exited with code (-?\d+)|\"exit_code\":\s?(-?\d+)|^Exit code: (-?\d+)", re.MULTILINE
)

_BEST, _GOOD, _SOME = 3, 2, 1
"""How much a kind of line tells of a call."""


def files(environment: Mapping[str, str]) -> Iterator[Path]:
    """Yield the transcripts on this machine."""
    root = Path(environment.get("CODEX_HOME") or f"{environment.get('HOME', '')}/.codex")
    yield from list_files(root / "sessions", "*/*/*/rollout-*.jsonl")
    yield from list_files(root / "archived_sessions", "**/rollout-*.jsonl")


_CWD = lazy_pattern(r"^cwd: (.+)$", re.MULTILINE)

_GROUP = lazy_pattern(r"^# Task Group:", re.MULTILINE)

_APPLIES_TO = lazy_pattern(r"^applies_to: cwd=([^;\n]+)", re.MULTILINE)

_MORE_PLACES = lazy_pattern(r"[,\s](?:/|~|\w:\\|cwd=)")

# Of a transcript, whose first line names the project.
_HEAD_BYTES = 2_000


def memories(
    project: Path, environment: Mapping[str, str]
) -> tuple[Path, frozenset[str] | None] | None:
    """Return the folder of what the program remembers, and which files are of a project.

    They are summaries of sessions in it, and MEMORY.md if each of its groups says that it applies
    there: the program writes one for all projects.
    """
    root = _find_memories(environment)
    entries = set[str]()
    for file in root.glob("rollout_summaries/*.md"):
        with suppress(OSError), file.open("rb") as opened:
            cwd = _CWD.search(opened.read(_HEAD_BYTES).decode("utf-8", "replace"))
            if cwd and _is_in(cwd[1], project):
                entries.add(f"rollout_summaries/{file.name}")
    with suppress(OSError):
        text = (root / _REGISTRY).read_text(encoding="utf-8", errors="replace")
        places = _APPLIES_TO.findall(text)
        groups = len(_GROUP.findall(text))
        if groups == len(places) > 0 and all(_is_in(place, project) for place in places):
            entries.add(_REGISTRY)
    return (root, frozenset(entries)) if entries else None


def global_memories(environment: Mapping[str, str]) -> tuple[Path, frozenset[str]]:
    """Return the folder of what the program remembers, and the files that are of all projects."""
    return _find_memories(environment), frozenset([_REGISTRY, "memory_summary.md"])


_REGISTRY = "MEMORY.md"


def _find_memories(environment: Mapping[str, str]) -> Path:
    root = environment.get("CODEX_HOME") or f"{environment.get('HOME', '')}/.codex"
    return Path(root) / "memories"


def _is_in(place: str, project: Path) -> bool:
    """Tell whether a folder that the program names, and no other, is in a project."""
    path = Path(os.path.normpath(place.strip()))
    return not _MORE_PLACES.search(place.strip()) and path.is_relative_to(project)


def folder(file: Path) -> str:
    """Return the folder in which the session began."""
    for line in read_first(file, 5):
        payload = read_fields(line, "payload") or line
        if cwd := read_text(payload, "cwd"):
            return cwd
    return ""


def read_transcript(file: Path) -> Transcript:
    """Return the session of a file. Raises OSError."""
    match = _ID.search(file.stem)
    reading = _CodexSession(Transcript(file, session_id=match[1] if match else file.stem))
    for line in read_lines(file, reading.transcript.skipped):
        reading.take(line)
    return reading.end()


def _join_parts(content: object) -> str:
    """Return the texts of a message's parts, whose type has been written in several ways."""
    parts = content if isinstance(content, list) else []
    return "\n".join(read_text(part, "text") for part in parts if isinstance(part, dict))


def _read_command(item: Payload) -> ToolCall:
    words, code = item.get("command"), item.get("exit_code")
    if isinstance(words, list):
        words = str(words[-1]) if words else ""
    printed = read_text(item, "aggregated_output", "formatted_output", "stdout")
    failed = isinstance(code, int) and code != 0
    return ToolCall("Bash", {"command": words}, {"output": printed, "exit_code": code}, failed)


def _read_patch(item: Payload) -> ToolCall:
    failed = item.get("status") == "failed" or item.get("success") is False
    output = read_text(item, "stderr" if failed else "stdout")
    return ToolCall("apply_patch", {"changes": read_fields(item, "changes")}, output, failed)


def _read_server_call(item: Payload) -> ToolCall:
    invoked, result = read_fields(item, "invocation") or item, item.get("result")
    name = f"mcp__{read_text(invoked, 'server')}__{read_text(invoked, 'tool')}"
    failed = item.get("status") == "failed" or (isinstance(result, dict) and "Err" in result)
    return ToolCall(name, invoked.get("arguments"), result, failed)


_CALLS = {
    "CommandExecution": (_BEST, _read_command),
    "FileChange": (_BEST, _read_patch),
    "McpToolCall": (_BEST, _read_server_call),
    "exec_command_end": (_GOOD, _read_command),
    "patch_apply_end": (_GOOD, _read_patch),
    "mcp_tool_call_end": (_GOOD, _read_server_call),
}
"""How much a line tells of a call, and what reads it, by its type."""


class _CodexSession:
    """The lines of one session, taken one after the other."""

    def __init__(self, transcript: Transcript) -> None:
        self.transcript = transcript
        self._calls = dict[str, tuple[int, HookEvent]]()
        self._begun = dict[str, tuple[str, Any]]()
        self._prompts = dict[int, list[HookEvent]]()
        self._messages = dict[int, list[HookEvent]]()
        self._cwd = ""

    def take(self, line: Payload) -> None:
        """Add a line."""
        kind, payload = read_text(line, "type"), read_fields(line, "payload")
        when = read_seconds(line.get("timestamp"))
        self.transcript.saw(when)
        if kind == "session_meta":
            self._read_meta(payload)
        elif kind == "turn_context":
            self._cwd = read_text(payload, "cwd") or self._cwd
        elif kind == "event_msg":
            self._read_event(payload, when)
        elif kind == "response_item":
            self._read_item(payload, when)
        else:
            self.transcript.skipped["no prompt or call"] += 1

    def _read_meta(self, payload: Payload) -> None:
        transcript, git = self.transcript, read_fields(payload, "git")
        transcript.session_id = (
            read_identifier(payload, "id", "session_id") or transcript.session_id
        )
        transcript.cwd = self._cwd = read_text(payload, "cwd")
        transcript.branch, transcript.commit = (
            read_text(git, "branch"),
            read_text(git, "commit_hash"),
        )

    def _read_event(self, payload: Payload, when: float) -> None:
        kind = read_text(payload, "type")
        item, key, turn = payload, read_identifier(payload, "call_id"), ""
        if kind == "item_completed":
            item, turn = read_fields(payload, "item"), read_identifier(payload, "turn_id")
            kind, key = read_text(item, "type"), read_identifier(item, "id")
        if kind in _CALLS:
            rank, read_call = _CALLS[kind]
            cwd = read_text(item, "cwd").removeprefix("file://") or self._cwd
            self._add_call(rank, make_call_step(read_call(item), when, key, cwd))
        elif kind == "user_message":
            self._add_prompt(read_text(item, "message"), when, turn, _GOOD)
        elif kind == "agent_message":
            self._add_message(read_text(item, "message"), when, _GOOD)
        elif kind == "UserMessage":
            self._add_prompt(join_texts(item.get("content")), when, turn, _BEST)
        elif kind == "AgentMessage":
            self._add_message(_join_parts(item.get("content")), when, _BEST)
        elif kind == "token_count":
            self._count(read_fields(read_fields(item, "info"), "total_token_usage"))

    def _count(self, total: Payload) -> None:
        transcript = self.transcript
        fresh = read_number(total.get("input_tokens"))
        fresh -= read_number(total.get("cached_input_tokens"))
        transcript.input_tokens = max(transcript.input_tokens, fresh)
        spent = read_number(total.get("output_tokens"))
        transcript.output_tokens = max(transcript.output_tokens, spent)

    def _read_item(self, payload: Payload, when: float) -> None:
        """Take a message or call as the model's interface has it."""
        kind, key = read_text(payload, "type"), read_identifier(payload, "call_id", "id")
        if kind == "message" and payload.get("role") == "user":
            self._add_prompt(join_texts(payload.get("content")), when, "", _SOME)
        elif kind == "message" and payload.get("role") == "assistant":
            self._add_message(_join_parts(payload.get("content")), when, _SOME)
        elif kind in ("function_call", "custom_tool_call", "local_shell_call") and key:
            arguments = payload.get("arguments") or payload.get("input") or payload.get("action")
            self._begun[key] = read_text(payload, "name") or "shell", arguments
        elif kind in ("function_call_output", "custom_tool_call_output") and key in self._begun:
            self._end_call(key, payload.get("output"), when)

    def _end_call(self, key: str, output: object, when: float) -> None:
        name, arguments = self._begun.pop(key)
        parsed, cwd = parse_json(arguments), self._cwd
        fields = parsed if isinstance(parsed, dict) else {}
        texts = join_texts(output) or (
            read_text(output, "content") if isinstance(output, dict) else ""
        )
        code = _CODE.search(texts[:4000])
        failed = bool(code) and int(next(filter(None, code.groups())) if code else 0) != 0
        if name in _SHELLS and fields:
            words = fields.get("command") or fields.get("cmd")
            line = str(words[-1]) if isinstance(words, list) and words else words
            name, arguments, cwd = "Bash", {"command": line}, read_text(fields, "workdir") or cwd
        elif name == "apply_patch":
            patch = arguments if isinstance(arguments, str) else read_text(fields, "input")
            arguments = {"command": patch}
        elif name == "update_plan":
            arguments = parsed
        else:
            self.transcript.skipped["call of another tool"] += 1
            return
        call = ToolCall(name, arguments, texts, failed)
        self._add_call(_SOME, make_call_step(call, when, key, cwd))

    def _add_call(self, rank: int, call: HookEvent) -> None:
        name = call.key or f"{call.created_at} {len(self._calls)}"
        if name not in self._calls or self._calls[name][0] < rank:
            self._calls[name] = rank, call

    def _add_prompt(self, text: str, when: float, turn: str, rank: int) -> None:
        """Add a prompt that one kind of line tells; those of the best kind are taken."""
        if prompt := strip_program_text(text):
            self._prompts.setdefault(rank, []).append(make_prompt_step(prompt, when, turn))

    def _add_message(self, text: str, when: float, rank: int) -> None:
        if text.strip():
            self._messages.setdefault(rank, []).append(make_message_step(text.strip(), when))

    def end(self) -> Transcript:
        """Return the session."""
        transcript = self.transcript
        transcript.skipped["call without a result"] += sum(
            key not in self._calls for key in self._begun
        )
        prompts = list[HookEvent]()
        for rank in sorted(self._prompts, reverse=True):
            counts = Counter(event.prompt for event in prompts)
            for event in self._prompts[rank]:
                counts[event.prompt] -= 1
                if counts[event.prompt] < 0:
                    prompts.append(event)
        ranks = {rank for rank, _ in self._calls.values()}
        calls = [
            call
            for rank, call in self._calls.values()
            # in files with completed items, the model's calls are scripts that made these
            if rank > _SOME or not ranks & {_BEST} or call.call.name == "update_plan"
        ]
        messages = self._messages[max(self._messages)] if self._messages else []
        transcript.steps = [*prompts, *calls, *messages]
        transcript.settle()
        return transcript


_MOST_INSTRUCTIONS = 32_768
"""Bytes of all files of instructions together that the program reads; it cuts the rest."""


def instructions(project: Path) -> dict[Path, str]:
    """Return the texts of instructions that the program loads, by their files.

    Of each folder it reads one file, and of all together the first bytes.
    """
    names = ("AGENTS.override.md", AGENTS)
    files = [
        next((folder / name for name in names if (folder / name).is_file()), folder / AGENTS)
        for folder in list_folders(project)
    ]
    most_instructions, entries = _MOST_INSTRUCTIONS, dict[Path, str]()
    for file, whole in read_texts(project, files).items():
        data = whole.encode()[:most_instructions]
        most_instructions -= len(data)
        entries[file] = data.decode(errors="ignore")
    return entries
