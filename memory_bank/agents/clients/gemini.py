"""Gemini CLI: its hooks, as seen in 0.61.0.

Its event PreCompress is left out, since it comes before each call of the model.
"""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from memory_bank.agents.clients.base import HookEvent, Kind, event_of, make_answer
from memory_bank.agents.instructions import list_folders, read_texts
from memory_bank.agents.payload import (
    Payload,
    digest,
    drop_fields,
    read_fields,
    read_identifier,
    read_seconds,
    read_text,
)
from memory_bank.agents.typed_prompt import strip_program_text
from memory_bank.base.errors import MemoryBankError

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

_EXIT = r"^Exit Code: (-?\d{1,5})\s*$"


def read(event: str, payload: Payload) -> HookEvent | None:
    """Return an event in the common form; None if it is to be ignored."""
    session = read_identifier(payload, "session_id")
    if not session:
        return None
    moment = read_text(payload, "timestamp")
    hook_event = event_of(event, EVENTS[event], session, NAME, payload, "GEMINI_PROJECT_DIR")
    hook_event = hook_event._replace(created_at=read_seconds(moment))
    if hook_event.kind == "prompt":
        prompt = strip_program_text(read_text(payload, "prompt"))
        return hook_event._replace(
            prompt=prompt, key=f"{moment} {digest(prompt)}" if moment else ""
        )
    return _tool(hook_event, payload, moment) if hook_event.kind == "tool" else hook_event


def _tool(event: HookEvent, payload: Payload, moment: str) -> HookEvent | None:
    """Return a call of a tool; the client gives it no id."""
    name, tool_input = read_text(payload, "tool_name"), payload.get("tool_input")
    response = read_fields(payload, "tool_response")
    content = response.get("llmContent")
    code = re.search(_EXIT, content[-2000:], re.MULTILINE) if isinstance(content, str) else None
    display = response.get("returnDisplay")
    if isinstance(display, dict) and display.get("fileDiff"):
        display = drop_fields(display, "originalContent", "newContent")  # the whole file, twice
    if not name:
        return None
    return event._replace(
        key=f"{moment} {digest(name, tool_input)}" if moment else "",
        tool_name=name,
        tool_input=tool_input,
        tool_output={**response, "returnDisplay": display} if display else dict(response),
        failed=bool(response.get("error")) or (code is not None and code[1] != "0"),
    )


def answer(event: str, kind: str, text: str) -> dict[str, object] | None:
    """Return the JSON by which the client adds a text to the session."""
    return make_answer(event, kind, text) if kind != "stop" else None


def instructions(project: Path) -> dict[Path, str]:
    """Return the texts of instructions that the program loads, by their files.

    The settings name them, those of the project before the user's own.
    """
    settings = ".gemini/settings.json"
    names = _names(project / settings) or _names(Path.home() / settings)
    files = [folder / name for folder in list_folders(project) for name in names or ["GEMINI.md"]]
    return read_texts(project, files, imports=True)


def _names(settings: Path) -> list[str]:
    """Return the names of files of instructions in a file of settings; none if it has none."""
    from memory_bank.bank import program_files

    with suppress(MemoryBankError):
        entry = mcp().editor.value_at(
            program_files.read_text(settings) or "", ("context", "fileName")
        )
        return [str(name) for name in (entry if isinstance(entry, list) else [entry]) if name]
    return []


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
