"""The client `owl`, an agent's program that nobody has."""

import json
from pathlib import Path

from memory_bank.agents import payload
from memory_bank.agents.clients.base import HookEvent, ToolCall

NAME, TITLE = "owl", "Owl"

EVENTS = {"begin": "start", "ask": "prompt", "used": "tool", "turn": "stop", "leave": "end"}

SERVER = {
    "docs": "https://owl.example/mcp",
    "user_file": "~/.owl/mcp.json",
    "project_file": ".owl/mcp.json",
}

HOOKS = {
    "docs": "https://owl.example/hooks",
    "user_file": "~/.owl/hooks.json",
    "project_file": ".owl/hooks.json",
}


def read(event, given):
    session = payload.read_identifier(given, "session")
    if not session:
        return None
    found = HookEvent(
        EVENTS[event],
        session,
        NAME,
        payload.read_project(given),
        payload.read_text(given, "cwd"),
        event,
    )
    return found._replace(
        prompt=payload.read_text(given, "prompt"),
        call=ToolCall(payload.read_text(given, "tool"), given.get("input"), given.get("output")),
    )


def answer(event, kind, text):
    return {"tell": text}


def tokens(transcript):
    return 0, 0


def files(environment):
    return iter(sorted(Path(environment.get("OWL_HOME", "~/.owl")).expanduser().glob("*.owl")))


def folder(file):
    return json.loads(file.read_text()).get("cwd", "")


def read_transcript(file):
    from memory_bank.agents.clients.base import Transcript, make_prompt_step

    given = json.loads(file.read_text())
    made = Transcript(file, file.stem, given.get("cwd", ""))
    made.saw(given["at"])
    made.steps = [make_prompt_step(given["prompt"], given["at"])]
    return made
