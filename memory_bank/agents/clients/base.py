"""The contract of a client: tables of its files, its events and their fields, and what reads them.

A client is a module of this package, named like the client with `_` for `-`: see `ClientModule`.
It is imported at each event, so it imports little.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, Protocol

from memory_bank.agents.payload import (
    Payload,
    digest,
    message_key,
    parse_json,
    read_identifier,
    read_project,
    read_seconds,
    read_text,
    strip_program_text,
)
from memory_bank.base import NamedTuple, lazy_pattern
from memory_bank.sessions.queue_rows import MESSAGE

PLUGIN = ".claude/skills/memory-bank"
"""The bundle's plug-in of Claude Code, and of each program that reads Agent Plugins 1.0."""

WORKSPACE = "${workspaceFolder}"

SECONDS = 10
"""Time limit of a hook, which takes a tenth of a second."""

AGENTS = "AGENTS.md"

_MOST_BYTES = 1_000_000
"""Bytes of a file that are read; what programs show of one is much less."""

_MOST_IMPORTS = 5
"""Imports of imports that are followed."""

_CODE = lazy_pattern(
    r"^[ \t>]*(```|~~~).*?(?:^[ \t>]*\1[^\n]*$|\Z)|`[^`\n]*`", re.MULTILINE | re.DOTALL
)

_IMPORT = lazy_pattern(r"(?:^|(?<=\s))@(\S+)", re.MULTILINE)

Kind = Literal["start", "prompt", "tool", "subagent", "compact", "stop", "end"]


class ToolCall(NamedTuple):
    """The use of a tool, as a program reports it; the values are what JSON can hold."""

    name: str = ""
    input: Any = None
    output: Any = None
    failed: bool = False


class HookEvent(NamedTuple):
    """One event of a client's hook, alike for all clients."""

    kind: Kind
    session_id: str
    agent: str
    """The client's name."""
    folder: str
    """The folder whose bank it belongs to: the client's project, else the working directory."""
    cwd: str = ""
    name: str = ""
    """The client's name of the event."""
    key: str = ""
    """What tells a repeated report of the same prompt or tool call; empty if unknown."""
    prompt: str = ""
    call: ToolCall = ToolCall()
    created_at: float = 0.0
    """Seconds since 1970; 0 for now."""
    source: str = ""
    """Why a session starts: `startup`, `resume`, `clear`, `compact`."""
    asking: bool = True
    """Whether a turn that ends may be continued by a question."""
    attended: bool = False
    """Whether a person is known to be there: in a run without one, what the agent says to a
    question would stand in place of the run's result."""
    transcript: str = ""
    """The path of the client's record of the session."""
    prompt_number: int = 0
    """The prompt to which a tool call belongs; 0 for the session's last one."""
    counts: dict[str, int] = {}  # noqa: RUF012  (of a named tuple, never changed)
    """Tokens, if the event tells them."""
    said: str = ""
    """The last text of the turn that ends."""


class EventTable(NamedTuple):
    """How a program names its events and their fields, if they are like those of Claude Code."""

    client: str
    kinds: Mapping[str, Kind]
    """The kind of each event; the name of one for a tool that failed ends with `Failure`."""
    session: tuple[str, ...] = ("session_id",)
    project: tuple[str, ...] = ()
    """Variables of the environment with the project's folder."""
    source: str = "source"
    moment: str = ""
    """When the event happened; it tells apart prompts and calls of a program without ids."""
    prompt_id: str = ""
    """What identifies one prompt."""
    turn_id: str = ""
    """What identifies a turn, which may be steered by more prompts."""
    tool: str = "tool_name"
    tool_input: str = "tool_input"
    tool_output: str = "tool_response"
    call_id: str = "tool_use_id"
    error: str = "error"
    """The output of a tool that failed."""

    def read(self, event: str, payload: Payload) -> HookEvent | None:
        """Return an event in the common form; None if it names no session, or no tool."""
        session = read_identifier(payload, *self.session)
        if not session:
            return None
        hook_event = HookEvent(
            self.kinds[event],
            session,
            self.client,
            read_project(payload, *self.project),
            cwd=read_text(payload, "cwd"),
            name=event,
            created_at=read_seconds(payload.get(self.moment)),
            source=read_text(payload, self.source),
            asking=not payload.get("stop_hook_active"),
            transcript=read_text(payload, "transcript_path", "transcriptPath"),
            said=read_text(payload, "last_assistant_message", "prompt_response"),
        )
        if hook_event.kind == "prompt":
            prompt = strip_program_text(read_text(payload, "prompt"))
            turn = _read_mark(payload, self.turn_id or self.moment)
            key = f"{turn} {digest(prompt)}" if turn else read_identifier(payload, self.prompt_id)
            return hook_event._replace(prompt=prompt, key=key)
        return self._read_call(hook_event, payload) if hook_event.kind == "tool" else hook_event

    def _read_call(self, event: HookEvent, payload: Payload) -> HookEvent | None:
        name, tool_input = read_text(payload, self.tool), parse_json(payload.get(self.tool_input))
        failed = event.name.endswith("Failure")
        output = payload.get(self.error if failed else self.tool_output)
        moment = _read_mark(payload, self.moment)
        call_id = read_identifier(payload, self.call_id)
        key = f"{moment} {digest(name, tool_input)}" if moment else call_id
        call = ToolCall(name, tool_input, output, failed)
        return event._replace(key=key, call=call) if name else None


def _read_mark(payload: Payload, name: str) -> str:
    """Return a field that is an id or a time; empty if it is neither."""
    value = payload.get(name)
    return str(value) if isinstance(value, int | float) else read_identifier(payload, name)


def read_subagent_report(event: HookEvent, payload: Payload) -> HookEvent | None:
    """Return what an agent reports that was started by another; None if it says nothing."""
    report = read_text(payload, "last_assistant_message")
    if not report:
        return None
    return event._replace(
        key=f"stop {read_identifier(payload, 'agent_id')} {digest(report)}",
        call=ToolCall("Agent", {"subagent_type": read_text(payload, "agent_type")}, report),
    )


def make_answer(event: str, kind: str, text: str) -> dict[str, object]:
    """Return the JSON by which such a program adds a text to the session, or asks a question."""
    if kind == "stop":
        return {"decision": "block", "reason": text}
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}


def make_prompt_step(text: str, created_at: float, key: str = "") -> HookEvent:
    """Return what a person asked as a step of a transcript, without its session."""
    return HookEvent("prompt", "", "", "", key=key, prompt=text, created_at=created_at)


def make_call_step(call: ToolCall, created_at: float, key: str = "", cwd: str = "") -> HookEvent:
    """Return the use of a tool as a step of a transcript, as a hook of the program gets it."""
    return HookEvent("tool", "", "", "", cwd, key=key, call=call, created_at=created_at)


def make_message_step(text: str, created_at: float) -> HookEvent:
    """Return the last text of a turn as a step of a transcript."""
    return make_call_step(ToolCall(MESSAGE, None, text), created_at, message_key(text))


class Transcript:
    """One session as a program recorded it."""

    def __init__(self, file: Path, session_id: str = "", cwd: str = "") -> None:
        self.file = file
        self.session_id = session_id
        self.cwd = cwd
        """The folder in which the program was started."""
        self.steps: list[HookEvent] = []
        """Prompts and calls, in the order in which they happened."""
        self.input_tokens = self.output_tokens = 0
        self.branch = self.commit = ""
        self.started_at = self.ended_at = 0.0
        self.skipped: Counter[str] = Counter()
        """How many lines were not understood, by the reason."""

    def settle(self) -> None:
        """Sort the steps, and keep of each turn the text that nothing follows."""
        steps = sorted(self.steps, key=lambda step: step.created_at)
        self.steps = [
            step
            for step, after in zip(steps, [*steps, None][1:], strict=True)
            if step.call.name != MESSAGE or after is None or after.kind == "prompt"
        ]

    def saw(self, when: float) -> None:
        """Widen the time of the session to a line's time."""
        if when:
            self.started_at = min(self.started_at or when, when)
            self.ended_at = max(self.ended_at, when)


def read_texts(project: Path, files: Iterable[Path], *, imports: bool = False) -> dict[Path, str]:
    """Return the text of each of some files, by its real path, in their order.

    With `imports`, also of the files that `@path` names in them. A file outside of the project's
    own tree is read only if it stands in a folder above the project.
    """
    reals: dict[Path, str] = {}
    waiting = [(file, 0) for file in files]
    while waiting:
        file, depth = waiting.pop(0)
        real = Path(os.path.realpath(file))
        if real in reals or (text := _read_file(real)) is None:
            continue
        reals[real] = text
        if imports and depth < _MOST_IMPORTS:
            paths = (file.parent / name for name in find_imports(text))
            below = [path for path in paths if Path(os.path.realpath(path)).is_relative_to(project)]
            waiting[:0] = [(path, depth + 1) for path in below]
    return reals


def find_imports(text: str) -> Iterator[str]:
    """Yield the paths that a text imports by `@path`, not in code."""
    for match in _IMPORT.finditer(_CODE.sub(" ", text)):
        yield match[1]


def leads_to(goal: Path, entries: Mapping[Path, str]) -> bool:
    """Return whether a file is one of those that were read, or imported by one."""
    real = os.path.realpath(goal)
    return any(
        os.path.realpath(file) == real
        or any(os.path.realpath(file.parent / name) == real for name in find_imports(text))
        for file, text in entries.items()
    )


def list_folders(project: Path) -> list[Path]:
    """Return the folders from the root of a project's work tree down to the project."""
    folders = [project, *project.parents]
    tree = next((at for at, place in enumerate(folders) if os.path.lexists(place / ".git")), 0)
    return folders[tree::-1]


def _read_file(file: Path) -> str | None:
    try:
        with file.open("rb") as stream:
            return stream.read(_MOST_BYTES).decode("utf-8", "replace") if file.is_file() else None
    except (OSError, ValueError):
        return None


class ClientModule(Protocol):
    """What the module of a client may have; `NAME` and `TITLE`, and what its program has."""

    NAME: str
    """The client, such as `claude-code`: the agent of its sessions."""
    TITLE: str
    SERVER: Mapping[str, object]
    """How MCP servers are added to its files: the fields of `McpClient`."""
    HOOKS: Mapping[str, object]
    """How hooks are added to its files: the fields of `HookClient`. It then has the next three."""
    EVENTS: Mapping[str, str]
    """The kind of each event that is understood, by the client's name of it."""

    def read(self, event: str, payload: Mapping[str, Any]) -> HookEvent | None:
        """Return an event of `EVENTS` in the common form; None if it is to be ignored."""

    def answer(self, event: str, kind: str, text: str) -> Mapping[str, object] | None:
        """Return the JSON by which the client adds a text to the session, or asks a question.

        The kind is `start` or `prompt` for context, `stop` for a question that continues the turn.
        None if the client can't.
        """

    def unreported(self, event: HookEvent) -> Iterator[HookEvent]:
        """Yield the calls of tools that no hook is told of, but the transcript at a turn's end.

        They are of the kind `tool`; those that are stored already are recognised by their keys.
        """

    def instructions(self, project: Path) -> dict[Path, str]:
        """Return what the program loads of each file of instructions, by the file's real path."""

    def memories(
        self, project: Path, environment: Mapping[str, str]
    ) -> tuple[Path, frozenset[str] | None] | None:
        """Return where the program keeps memories of its own: see `bank/agent_memories.py`."""

    def files(self, environment: Mapping[str, str]) -> Iterator[Path]:
        """Yield the transcripts on this machine, in a stable order; it has the next two, too."""

    def folder(self, file: Path) -> str:
        """Return the folder in which a session began, read fast; empty if it isn't said."""

    def read_transcript(self, file: Path) -> Transcript:
        """Return the session of a transcript. Raises OSError."""
