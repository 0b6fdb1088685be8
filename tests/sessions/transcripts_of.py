"""Recorded transcripts as the events that hooks of their programs report."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memory_bank.agents import clients
from memory_bank.agents.clients.base import HookEvent, Kind, ToolCall
from memory_bank.sessions.records import Event, Prompt

FOLDER = Path(__file__).parent / "transcripts"
PROJECTS = {"claude-code": "shop", "codex": "minidown", "gemini": "ring", "copilot": "sync", "opencode": "slug"}  # fmt: skip


def session(client: str) -> tuple[list[Event], list[Prompt], Path]:
    """Return the events and prompts of a recorded session, and the folder of its project."""
    root = Path("/home/dev") / PROJECTS[client]
    events, prompts = list[Event](), list[Prompt]()
    for step in steps_of(client):
        when = datetime.fromtimestamp(step.created_at, UTC)
        if step.kind == "prompt":
            prompts.append(Prompt(client, len(prompts) + 1, step.prompt, when))
            continue
        output = step.call.output
        text = output if isinstance(output, str) else json.dumps(output)
        given = json.dumps(step.call.input)
        cwd = step.cwd or str(root)
        number = len(events) + 1
        events.append(
            Event(
                number,
                client,
                step.call.name,
                given,
                text,
                len(prompts),
                when,
                step.call.failed,
                cwd,
            )
        )
    return events, prompts, root


def steps_of(client: str) -> list[HookEvent]:
    """Return the prompts and calls of a recorded session."""
    file = FOLDER / f"{client}.jsonl"
    if file.exists():
        return list(clients.find(client, clients.TRANSCRIPTS).read_transcript(file).steps)
    rows = (FOLDER / f"{client}.events.jsonl").read_text(encoding="utf-8").splitlines()
    return [_step_of(client, **json.loads(row)) for row in rows]


def _step_of(
    client: str, *, tool_name: str = "", tool_input: Any = None, tool_output: Any = None,
    failed: bool = False, kind: Kind, **fields: Any,
) -> HookEvent:  # fmt: skip
    call = ToolCall(tool_name, tool_input, tool_output, failed)
    return HookEvent(kind, "", client, "", call=call, **fields)
