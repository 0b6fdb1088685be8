"""Recorded transcripts as the events that hooks of their programs report."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memory_bank.agents import clients
from memory_bank.agents.clients.base import Step, TranscriptCall, TranscriptPrompt
from memory_bank.sessions.records import Event, Prompt

FOLDER = Path(__file__).parent / "transcripts"
PROJECTS = {"claude-code": "shop", "codex": "minidown", "gemini": "ring", "copilot": "sync", "opencode": "slug"}  # fmt: skip


def session(client: str) -> tuple[list[Event], list[Prompt], Path]:
    """Return the events and prompts of a recorded session, and the folder of its project."""
    root = Path("/home/dev") / PROJECTS[client]
    events, prompts = list[Event](), list[Prompt]()
    for step in _steps(client, root):
        when = datetime.fromtimestamp(step.created_at, UTC)
        if isinstance(step, TranscriptPrompt):
            prompts.append(Prompt(client, len(prompts) + 1, step.text, when))
            continue
        output = step.tool_output
        text = output if isinstance(output, str) else json.dumps(output)
        given = json.dumps(step.tool_input)
        cwd = step.cwd or str(root)
        number = len(events) + 1
        events.append(
            Event(number, client, step.tool_name, given, text, len(prompts), when, step.failed, cwd)
        )
    return events, prompts, root


def _steps(client: str, root: Path) -> list[Step]:
    file = FOLDER / f"{client}.jsonl"
    if client in clients.names(clients.TRANSCRIPTS):
        return clients.find(client, clients.TRANSCRIPTS).read_transcript(file).steps
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    return list(_copilot(lines) if client == "copilot" else _opencode(lines))


def _copilot(lines: list[dict[str, Any]]) -> Iterator[Step]:
    begun: dict[str, dict[str, Any]] = {}
    for line in lines:
        data, when = line["data"], datetime.fromisoformat(line["timestamp"]).timestamp()
        if line["type"] == "user.message":
            yield TranscriptPrompt(data["content"], when)
        elif line["type"] == "tool.execution_start":
            begun[data["toolCallId"]] = data
        elif line["type"] == "tool.execution_complete":
            call = begun[data["toolCallId"]]
            result = {"resultType": "success" if data["success"] else "failure",
                      "textResultForLlm": (data.get("result") or data.get("error") or {}).get("content", "")}  # fmt: skip
            yield TranscriptCall(
                call["toolName"], call["arguments"], result, when, failed=not data["success"]
            )


def _opencode(lines: list[dict[str, Any]]) -> Iterator[Step]:
    for line in lines[1:]:
        for part in line["parts"]:
            if part["type"] == "text" and line["info"]["role"] == "user":
                yield TranscriptPrompt(part["text"], line["info"]["time"]["created"] / 1000)
            elif part["type"] == "tool":
                state = part["state"]
                output = {
                    name: state.get(name)
                    for name in ("output", "metadata", "error")
                    if state.get(name)
                }
                when = state["time"]["end"] / 1000
                yield TranscriptCall(
                    part["tool"], state["input"], output, when, failed=state["status"] == "error"
                )
