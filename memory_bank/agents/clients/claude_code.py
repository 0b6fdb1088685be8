"""Claude Code: its hooks, and its transcripts in `~/.claude/projects/FOLDER/`.

Seen in 2.1.330. Their form is internal to the program, so that every field may be missing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from memory_bank.agents.clients.base import (
    AGENTS,
    PLUGIN,
    SECONDS,
    EventTable,
    HookEvent,
    Kind,
    ToolCall,
    Transcript,
    make_answer,
    make_call_step,
    make_message_step,
    make_prompt_step,
    read_subagent_report,
    read_texts,
)
from memory_bank.agents.payload import (
    Payload,
    drop_fields,
    join_texts,
    list_files,
    list_parts,
    read_fields,
    read_first,
    read_identifier,
    read_lines,
    read_number,
    read_seconds,
    read_text,
    strip_program_text,
)

NAME, TITLE = "claude-code", "Claude Code"

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

SERVER = {
    "docs": "https://code.claude.com/docs/en/mcp",
    "user_file": "~/.claude.json",
    "project_file": ".mcp.json",
    "plugin_file": f"{PLUGIN}/.mcp.json",
    "home": "CLAUDE_CONFIG_DIR",
    "editor": "json",
    "per_project": "projects",
    "next_project": "start it in the project and approve the server",
}

HOOKS = {
    "docs": "https://code.claude.com/docs/en/hooks",
    "user_file": "~/.claude/settings.json",
    "project_file": ".claude/settings.json",
    "plugin_file": f"{PLUGIN}/hooks/hooks.json",
    "home": "CLAUDE_CONFIG_DIR",
    "extra": {"type": "command"},
    "timeouts": {"timeout": SECONDS},
    "off": "disableAllHooks",
    "next_project": "start it in the project and trust the folder; `/hooks` lists them",
    "next_user": "restart it; `/hooks` lists them",
}

_OTHERS = ("COPILOT_CLI", "CURSOR_VERSION")
"""Variables of other programs, which run the hooks of Claude Code's files too.

They report the same events to their own hooks, in their own form.
"""

_ATTENDED = ("", "cli", "claude-vscode", "claude-desktop")
"""Values of CLAUDE_CODE_ENTRYPOINT where a person sits before the program, not a script.

`claude -p` has `sdk-cli`, the SDKs `sdk-ts` and `sdk-py`. Former versions did not set it.
"""

_TABLE = EventTable(NAME, EVENTS, project=("CLAUDE_PROJECT_DIR",), prompt_id="prompt_id")


def read(event: str, payload: Payload) -> HookEvent | None:
    """Return an event in the common form; None if it is to be ignored."""
    hook_event = _TABLE.read(event, payload)
    if hook_event is None or any(name in os.environ for name in _OTHERS):
        return None
    if hook_event.kind == "subagent":
        # compaction has no agent_type: it is no subagent
        return (
            read_subagent_report(hook_event, payload) if read_text(payload, "agent_type") else None
        )
    call = hook_event.call
    return hook_event._replace(
        call=call._replace(output=_drop_whole_file(call.output)),
        attended=os.environ.get("CLAUDE_CODE_ENTRYPOINT", "") in _ATTENDED,
    )


def _drop_whole_file(output: object) -> object:
    """Return an edit's result without the file before and after: its patch says what changed."""
    is_edit = isinstance(output, dict) and output.get("structuredPatch")
    return drop_fields(output, "originalFile", "content") if is_edit else output


answer = make_answer


_OURS = "Before you stop: this session changed files"
"""Start of the question of `hook_answers`: what is said to it tells nothing of the turn."""

_REFUSED = ("The user doesn't want to", "The tool use was rejected", "Permission to use")


def files(environment: Mapping[str, str]) -> Iterator[Path]:
    """Yield the transcripts on this machine."""
    yield from list_files(_projects_folder(environment), "*/*.jsonl")


def _projects_folder(environment: Mapping[str, str]) -> Path:
    root = environment.get("CLAUDE_CONFIG_DIR") or f"{environment.get('HOME', '')}/.claude"
    return Path(root) / "projects"


# Characters of the names that the program gives to folders of projects.
_LONGEST_SLUG = 200


def memories(
    project: Path, environment: Mapping[str, str]
) -> tuple[Path, frozenset[str] | None] | None:
    """Return the folder of what the program remembers of a project."""
    name, place = re.sub(r"[^A-Za-z0-9]", "-", str(project)), _projects_folder(environment)
    if len(name) <= _LONGEST_SLUG:
        return place / name / "memory", None
    paths = sorted(place.glob(f"{name[:_LONGEST_SLUG]}-*/memory"))  # its end is a hash
    return (paths[0], None) if len(paths) == 1 else None


def folder(file: Path) -> str:
    """Return the folder in which the session began."""
    return next((cwd for line in read_first(file) if (cwd := read_text(line, "cwd"))), "")


def read_transcript(file: Path) -> Transcript:
    """Return the session of a file, with the calls of its subagents. Raises OSError."""
    reading = _ClaudeSession(Transcript(file, session_id=file.stem))
    for line in read_lines(file, reading.transcript.skipped):
        reading.take(line)
    for agent in list_files(file.with_suffix("") / "subagents", "*.jsonl"):
        for line in read_lines(agent, reading.transcript.skipped):
            reading.take(line, aside=True)
    return reading.end()


class _ClaudeSession:
    """The lines of one session, taken one after the other."""

    def __init__(self, transcript: Transcript) -> None:
        self.transcript = transcript
        self._seen = set[str]()
        self._open = dict[str, tuple[str, Any, float, str]]()
        self._usage = dict[str, tuple[int, int]]()
        self._questioned = False

    def take(self, line: Payload, *, aside: bool = False) -> None:
        """Add a line; one that was read already, as a fork repeats them, is passed over."""
        uuid = read_text(line, "uuid")
        if uuid in self._seen:
            return
        self._seen.update([uuid] if uuid else [])
        kind = read_text(line, "type")
        transcript = self.transcript
        if kind not in ("user", "assistant"):
            transcript.skipped["no prompt or call"] += kind not in ("system", "summary")
            return
        when = read_seconds(line.get("timestamp"))
        transcript.saw(when)
        transcript.cwd = transcript.cwd or read_text(line, "cwd")
        transcript.branch = transcript.branch or read_text(line, "gitBranch")
        aside = aside or bool(line.get("isSidechain"))
        if kind == "assistant":
            self._add_calls(line, when)
            texts = join_texts(read_fields(line, "message").get("content"))
            if texts.strip() and not (aside or self._questioned):
                transcript.steps.append(make_message_step(texts.strip(), when))
        elif results := [
            part
            for part in list_parts(read_fields(line, "message"))
            if part.get("type") == "tool_result"
        ]:
            for part in results:
                self._add_result(line, part, alone=len(results) == 1)
        elif not aside:
            self._add_prompt(line, when)

    def _add_calls(self, line: Payload, when: float) -> None:
        message = read_fields(line, "message")
        usage = read_fields(message, "usage")
        if usage:  # a message has a line for each of its parts, each with the usage so far
            number = read_number(usage.get("input_tokens"))
            number += read_number(usage.get("cache_creation_input_tokens"))
            spent = read_number(usage.get("output_tokens"))
            self._usage[read_text(message, "id") or str(len(self._usage))] = number, spent
        for part in list_parts(message):
            key, name = read_identifier(part, "id"), read_text(part, "name")
            if part.get("type") == "tool_use" and key and name:
                self._open[key] = name, part.get("input"), when, read_text(line, "cwd")

    def _add_result(self, line: Payload, part: Payload, *, alone: bool) -> None:
        key = read_text(part, "tool_use_id")
        begun = self._open.pop(key, None)
        if begun is None:
            self.transcript.skipped["result without a call"] += 1
            return
        name, tool_input, when, cwd = begun
        failed = bool(part.get("is_error"))
        texts = join_texts(part.get("content"))
        output: Any = line.get("toolUseResult") if alone else None
        output = output.removeprefix("Error: ") if isinstance(output, str) else output
        if output is None or (failed and not isinstance(output, str)):
            output = texts
        if failed and texts.startswith(_REFUSED):
            self.transcript.skipped["refused call"] += 1
            return
        ended_at = read_seconds(line.get("timestamp")) or when
        call = ToolCall(name, tool_input, _drop_whole_file(output), failed)
        self.transcript.steps.append(make_call_step(call, ended_at, key, cwd))

    def _add_prompt(self, line: Payload, when: float) -> None:
        self._questioned |= _OURS in str(line.get("message"))
        if (
            line.get("isMeta")
            or line.get("isCompactSummary")
            or line.get("promptSource") == "system"
        ):
            return
        text = strip_program_text(join_texts(read_fields(line, "message").get("content")))
        if not text:
            return
        self._questioned = False
        self.transcript.steps.append(
            make_prompt_step(text, when, read_identifier(line, "promptId"))
        )

    def end(self) -> Transcript:
        """Return the session; a call without a result is counted."""
        transcript = self.transcript
        transcript.skipped["call without a result"] += len(self._open)
        transcript.input_tokens = sum(number for number, _ in self._usage.values())
        transcript.output_tokens = sum(spent for _, spent in self._usage.values())
        transcript.settle()
        return transcript


def instructions(project: Path) -> dict[Path, str]:
    """Return the texts of instructions that the program loads, by their files.

    It reads AGENTS.md only where no CLAUDE.md is on the way to it, above the project too.
    """
    above = [*reversed(project.parents), project]
    own = [
        folder / name
        for folder in above
        for name in ("CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md")
        if (folder, name) != (Path.home(), ".claude/CLAUDE.md")
    ]
    chosen = [file for file in own if file.is_file()]
    if not chosen:
        chosen = [folder / name for folder in above for name in (AGENTS, f".claude/{AGENTS}")]
    rules = sorted((project / ".claude/rules").rglob("*.md"))
    return read_texts(project, [*rules, *chosen], imports=True)
