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
from typing import TYPE_CHECKING, Any

from memory_bank.agents import payload, transcript_lines
from memory_bank.agents.clients.base import (
    HookEvent,
    Kind,
    Transcript,
    call_step,
    event_of,
    make_answer,
    message_step,
    prompt_step,
    subagent_of,
)
from memory_bank.agents.payload import (
    Payload,
    digest,
    read_fields,
    read_identifier,
    read_number,
    read_seconds,
    read_text,
)
from memory_bank.agents.transcript_lines import Line
from memory_bank.agents.typed_prompt import strip_program_text
from memory_bank.base import lazy_pattern

if TYPE_CHECKING:
    from memory_bank.agents.client_files import HookClient, McpClient

NAME = "codex"

_FOLDERS = [f"XDG_{kind}_HOME" for kind in ("CONFIG", "STATE", "DATA", "CACHE")]
"""Variables that Codex passes to a server only if they are named; without them the server has
another private state than commands and hooks."""

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
    session = read_identifier(payload, "session_id")
    if not session:
        return None
    hook_event = event_of(event, EVENTS[event], session, NAME, payload)
    if hook_event.kind == "prompt":
        prompt = strip_program_text(read_text(payload, "prompt"))
        turn = read_identifier(payload, "turn_id")
        # a turn may be steered by more prompts
        key = f"{turn} {digest(prompt)}" if turn else ""
        return hook_event._replace(prompt=prompt, key=key)
    if hook_event.kind == "subagent":
        return subagent_of(hook_event, payload)
    if hook_event.kind == "stop":
        return hook_event._replace(attended=_is_attended(hook_event.transcript))
    return _tool(hook_event, payload) if hook_event.kind == "tool" else hook_event


_ATTENDED = ("cli", "vscode", "codex_cli_rs", "codex-tui", "codex_vscode")
"""Sources and originators of sessions before which a person sits; `codex exec` has `exec`."""


def _is_attended(transcript: str) -> bool:
    """Return whether the head of a transcript names a program before which a person sits."""
    head = next(transcript_lines.read_first(Path(transcript), 1), {}) if transcript else {}
    about = read_fields(head, "payload")
    return (about.get("source") or about.get("originator")) in _ATTENDED


def _tool(event: HookEvent, payload: Payload) -> HookEvent | None:
    """Return a call of a tool, with the exit code that only the transcript has."""
    name, call = read_text(payload, "tool_name"), read_identifier(payload, "tool_use_id")
    output = payload.get("tool_response")
    failed = False
    if isinstance(output, str):
        code = _exit_code(event.transcript, call) if name == "Bash" else None
        stated = re.match(_STATED, output)
        failed = code not in (None, 0) or (stated is not None and stated[1] != "0")
        if code is not None:
            output = {"output": output, "exit_code": code}
    elif isinstance(output, dict):
        failed = output.get("isError") is True
    if not name:
        return None
    return event._replace(
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
    end = payload.end_of(event.transcript, _TURN, '"FileChange"') if event.transcript else ()
    for record in reversed(list(end)):
        item = payload.read_fields(payload.read_fields(record, "payload"), "item")
        call, changes = payload.read_identifier(item, "id"), payload.read_fields(item, "changes")
        if item.get("type") == "FileChange" and call and changes:
            yield event._replace(
                kind="tool",
                key=call,
                tool_name="apply_patch",
                tool_input={"command": _patch(changes)},
                tool_output=payload.read_text(item, "stderr", "stdout"),
                failed=item.get("status") != "completed",
                created_at=payload.read_seconds(record.get("timestamp")),
            )


def _patch(changes: Payload) -> str:
    """Return the changes of files in the form of `apply_patch`."""
    lines = ["*** Begin Patch"]
    for path in changes:
        change = payload.read_fields(changes, path)
        kind = payload.read_text(change, "type")
        lines.append(f"*** {_HEADS.get(kind, 'Update')} File: {path}")
        if moved := payload.read_text(change, "move_path"):
            lines.append(f"*** Move to: {moved}")
        lines += payload.read_text(change, "unified_diff").splitlines()
        if kind == "add":
            lines += [f"+{line}" for line in payload.read_text(change, "content").splitlines()]
    return "\n".join([*lines, "*** End Patch\n"])


def _exit_code(transcript: str, call: str) -> int | None:
    for record in payload.end_of(transcript, _TAIL, call) if transcript and call else ():
        item = payload.read_fields(payload.read_fields(record, "payload"), "item")
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
    yield from transcript_lines.list_files(root / "sessions", "*/*/*/rollout-*.jsonl")
    yield from transcript_lines.list_files(root / "archived_sessions", "**/rollout-*.jsonl")


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
    root = _memories(environment)
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
    return _memories(environment), frozenset([_REGISTRY, "memory_summary.md"])


_REGISTRY = "MEMORY.md"


def _memories(environment: Mapping[str, str]) -> Path:
    root = environment.get("CODEX_HOME") or f"{environment.get('HOME', '')}/.codex"
    return Path(root) / "memories"


def _is_in(place: str, project: Path) -> bool:
    """Tell whether a folder that the program names, and no other, is in a project."""
    path = Path(os.path.normpath(place.strip()))
    return not _MORE_PLACES.search(place.strip()) and path.is_relative_to(project)


def folder(file: Path) -> str:
    """Return the folder in which the session began."""
    for line in transcript_lines.read_first(file, 5):
        payload = read_fields(line, "payload") or line
        if cwd := read_text(payload, "cwd"):
            return cwd
    return ""


def read_transcript(file: Path) -> Transcript:
    """Return the session of a file. Raises OSError."""
    match = _ID.search(file.stem)
    reading = _CodexSession(Transcript(file, session_id=match[1] if match else file.stem))
    for line in transcript_lines.read_lines(file, reading.made.skipped):
        reading.take(line)
    return reading.end()


def _join_parts(content: object) -> str:
    """Return the texts of a message's parts, whose type has been written in several ways."""
    parts = content if isinstance(content, list) else []
    return "\n".join(read_text(part, "text") for part in parts if isinstance(part, dict))


class _CodexSession:
    """The lines of one session, taken one after the other."""

    def __init__(self, transcript: Transcript) -> None:
        self.made = transcript
        self._calls = dict[str, tuple[int, HookEvent]]()
        self._begun = dict[str, tuple[str, Any]]()
        self._prompts = dict[int, list[HookEvent]]()
        self._messages = dict[int, list[HookEvent]]()
        self._cwd = ""

    def take(self, line: Line) -> None:
        """Add a line."""
        kind, payload = read_text(line, "type"), read_fields(line, "payload")
        when = read_seconds(line.get("timestamp"))
        self.made.saw(when)
        if kind == "session_meta":
            self._meta(payload)
        elif kind == "turn_context":
            self._cwd = read_text(payload, "cwd") or self._cwd
        elif kind == "event_msg":
            self._event(payload, when)
        elif kind == "response_item":
            self._item(payload, when)
        else:
            self.made.skipped["no prompt or call"] += 1

    def _meta(self, payload: Line) -> None:
        transcript, git = self.made, read_fields(payload, "git")
        transcript.session_id = (
            read_identifier(payload, "id", "session_id") or transcript.session_id
        )
        transcript.cwd = self._cwd = read_text(payload, "cwd")
        transcript.branch, transcript.commit = (
            read_text(git, "branch"),
            read_text(git, "commit_hash"),
        )

    def _event(self, payload: Line, when: float) -> None:
        kind = read_text(payload, "type")
        if kind == "item_completed":
            self._completed(read_fields(payload, "item"), payload, when)
        elif kind == "user_message":
            self._prompt(read_text(payload, "message"), when, "", _GOOD)
        elif kind == "agent_message":
            self._say(read_text(payload, "message"), when, _GOOD)
        elif kind == "exec_command_end":
            self._command(payload, read_identifier(payload, "call_id"), when, _GOOD)
        elif kind == "patch_apply_end":
            self._patch(payload, read_identifier(payload, "call_id"), when, _GOOD)
        elif kind == "mcp_tool_call_end":
            invoked = read_fields(payload, "invocation")
            self._tool(payload, invoked, read_identifier(payload, "call_id"), when, _GOOD)
        elif kind == "token_count":
            total = read_fields(read_fields(payload, "info"), "total_token_usage")
            if total:
                spared = read_number(total.get("cached_input_tokens"))
                fresh_tokens = read_number(total.get("input_tokens")) - spared
                self.made.input_tokens = max(self.made.input_tokens, fresh_tokens)
                spent = read_number(total.get("output_tokens"))
                self.made.output_tokens = max(self.made.output_tokens, spent)

    def _completed(self, item: Line, payload: Line, when: float) -> None:
        kind, key = read_text(item, "type"), read_identifier(item, "id")
        if kind == "UserMessage":
            turn = read_identifier(payload, "turn_id")
            self._prompt(transcript_lines.join_texts(item.get("content")), when, turn, _BEST)
        elif kind == "CommandExecution":
            self._command(item, key, when, _BEST)
        elif kind == "FileChange":
            self._patch(item, key, when, _BEST)
        elif kind == "McpToolCall":
            self._tool(item, item, key, when, _BEST)
        elif kind == "AgentMessage":
            self._say(_join_parts(item.get("content")), when, _BEST)

    def _command(self, item: Line, key: str, when: float, rank: int) -> None:
        words = item.get("command")
        if isinstance(words, list):
            words = str(words[-1]) if words else ""
        code = item.get("exit_code")
        printed = read_text(item, "aggregated_output", "formatted_output", "stdout")
        failed = isinstance(code, int) and code != 0
        cwd = read_text(item, "cwd").removeprefix("file://") or self._cwd
        output = {"output": printed, "exit_code": code}
        tool_input = {"command": words}
        self._add(rank, call_step("Bash", tool_input, output, when, key, failed=failed, cwd=cwd))

    def _patch(self, item: Line, key: str, when: float, rank: int) -> None:
        failed = item.get("status") == "failed" or item.get("success") is False
        output = read_text(item, "stderr" if failed else "stdout")
        tool_input = {"changes": read_fields(item, "changes")}
        call = call_step("apply_patch", tool_input, output, when, key, failed=failed, cwd=self._cwd)
        self._add(rank, call)

    def _tool(self, item: Line, invoked: Line, key: str, when: float, rank: int) -> None:
        server, tool = (read_text(invoked, key) for key in ("server", "tool"))
        name = f"mcp__{server}__{tool}"
        result = item.get("result")
        failed = item.get("status") == "failed" or (isinstance(result, dict) and "Err" in result)
        arguments = invoked.get("arguments")
        call = call_step(name, arguments, result, when, key, failed=failed, cwd=self._cwd)
        self._add(rank, call)

    def _item(self, payload: Line, when: float) -> None:
        """Take a message or call as the model's interface has it."""
        kind, key = read_text(payload, "type"), read_identifier(payload, "call_id", "id")
        if kind == "message" and payload.get("role") == "user":
            self._prompt(transcript_lines.join_texts(payload.get("content")), when, "", _SOME)
        elif kind == "message" and payload.get("role") == "assistant":
            self._say(_join_parts(payload.get("content")), when, _SOME)
        elif kind in ("function_call", "custom_tool_call", "local_shell_call") and key:
            arguments = payload.get("arguments") or payload.get("input") or payload.get("action")
            self._begun[key] = read_text(payload, "name") or "shell", arguments
        elif kind in ("function_call_output", "custom_tool_call_output") and key in self._begun:
            self._answered(key, payload.get("output"), when)

    def _answered(self, key: str, output: object, when: float) -> None:
        name, arguments = self._begun.pop(key)
        parsed = transcript_lines.parse_json(arguments) if isinstance(arguments, str) else arguments
        texts = transcript_lines.join_texts(output) or read_text(
            read_fields({"x": output}, "x"), "content"
        )
        code = _CODE.search(texts[:4000])
        failed = bool(code) and int(next(filter(None, code.groups())) if code else 0) != 0
        cwd = self._cwd
        if name in _SHELLS and isinstance(parsed, dict):
            words = parsed.get("command") or parsed.get("cmd")
            line = str(words[-1]) if isinstance(words, list) and words else words
            name, arguments, cwd = "Bash", {"command": line}, read_text(parsed, "workdir") or cwd
        elif name == "apply_patch":
            patch = (
                arguments
                if isinstance(arguments, str)
                else read_text(read_fields({"x": parsed}, "x"), "input")
            )
            arguments = {"command": patch}
        elif name == "update_plan":
            arguments = parsed
        else:
            self.made.skipped["call of another tool"] += 1
            return
        self._add(_SOME, call_step(name, arguments, texts, when, key, failed=failed, cwd=cwd))

    def _add(self, rank: int, call: HookEvent) -> None:
        name = call.key or f"{call.created_at} {len(self._calls)}"
        if name not in self._calls or self._calls[name][0] < rank:
            self._calls[name] = rank, call

    def _prompt(self, text: str, when: float, turn: str, rank: int) -> None:
        """Add a prompt that one kind of line tells; those of the best kind are taken."""
        if prompt := strip_program_text(text):
            self._prompts.setdefault(rank, []).append(prompt_step(prompt, when, turn))

    def _say(self, text: str, when: float, rank: int) -> None:
        if text.strip():
            self._messages.setdefault(rank, []).append(message_step(text.strip(), when))

    def end(self) -> Transcript:
        """Return the session."""
        transcript = self.made
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
            if rank > _SOME or not ranks & {_BEST} or call.tool_name == "update_plan"
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
    from memory_bank.agents.instructions import AGENTS, list_folders, read_texts

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


def mcp() -> McpClient:
    """Return how servers are added to its configuration."""
    from memory_bank.agents.client_files import McpClient
    from memory_bank.agents.json_file import TomlFile

    return McpClient(
        *(NAME, "Codex", "https://developers.openai.com/codex/config-reference"),
        *("~/.codex/config.toml", ".codex/config.toml", "mcp_servers"),
        editor=TomlFile(),
        extra={"env_vars": _FOLDERS},
        home="CODEX_HOME",
        next_project="start it in the project and trust the project; else it ignores the file",
    )


def hooks() -> HookClient:
    """Return how its hooks are set up."""
    from memory_bank.agents.client_files import SECONDS, HookClient

    return HookClient(
        *(NAME, "Codex", "https://developers.openai.com/codex/hooks"),
        *("~/.codex/hooks.json", ".codex/hooks.json"),
        events=tuple(EVENTS),
        extra={"type": "command"},
        timeouts={"timeout": SECONDS},
        short={"SessionEnd": 3},
        home="CODEX_HOME",
        next_project="start it in the project, trust the project, and approve the hooks in /hooks",
        next_user="start it and approve the hooks in /hooks: until then it skips them silently",
    )
