"""Gemini CLI: its hooks, as seen in 0.61.0.

Its event PreCompress is left out, since it comes before each call of the model.
"""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

from memory_bank.agents.clients.base import (
    SECONDS,
    EventTable,
    HookEvent,
    Kind,
    list_folders,
    make_answer,
    read_texts,
)
from memory_bank.agents.payload import (
    Payload,
    drop_fields,
    read_fields,
)
from memory_bank.base.errors import MemoryBankError

NAME, TITLE = "gemini", "Gemini CLI"

EVENTS: dict[str, Kind] = {
    "SessionStart": "start",
    "BeforeAgent": "prompt",
    "AfterTool": "tool",
    "AfterAgent": "stop",
    "SessionEnd": "end",
}

SERVER = {
    "docs": "https://geminicli.com/docs/tools/mcp-server",
    "user_file": "~/.gemini/settings.json",
    "project_file": ".gemini/settings.json",
    "editor": "json with comments",
    "next_project": "start it in the project and trust the folder",
    "next_user": "restart it; in a folder that it does not trust it starts no server",
}

HOOKS = {
    "docs": "https://geminicli.com/docs/hooks",
    "user_file": "~/.gemini/settings.json",
    "project_file": ".gemini/settings.json",
    "editor": "json with comments",
    "extra": {"type": "command", "name": "memory-bank"},
    "timeouts": {"timeout": SECONDS * 1000},
    "next_project": "start it in the project and trust the folder: else it runs no hooks of it",
}

_EXIT = r"^Exit Code: (-?\d{1,5})\s*$"


_TABLE = EventTable(NAME, EVENTS, project=("GEMINI_PROJECT_DIR",), moment="timestamp")


def read(event: str, payload: Payload) -> HookEvent | None:
    """Return an event in the common form; None if it is to be ignored."""
    hook_event = _TABLE.read(event, payload)
    if hook_event is None or hook_event.kind != "tool":
        return hook_event
    response = read_fields(payload, "tool_response")
    content, display = response.get("llmContent"), response.get("returnDisplay")
    code = re.search(_EXIT, content[-2000:], re.MULTILINE) if isinstance(content, str) else None
    if isinstance(display, dict) and display.get("fileDiff"):
        display = drop_fields(display, "originalContent", "newContent")  # the whole file, twice
    call = hook_event.call._replace(
        output={**response, "returnDisplay": display} if display else dict(response),
        failed=bool(response.get("error")) or (code is not None and code[1] != "0"),
    )
    return hook_event._replace(call=call)


def answer(event: str, kind: str, text: str) -> dict[str, object] | None:
    """Return the JSON by which the client adds a text to the session."""
    return make_answer(event, kind, text) if kind != "stop" else None


def instructions(project: Path) -> dict[Path, str]:
    """Return the texts of instructions that the program loads, by their files.

    The settings name them, those of the project before the user's own.
    """
    settings = ".gemini/settings.json"
    names = _read_names(project / settings) or _read_names(Path.home() / settings)
    files = [folder / name for folder in list_folders(project) for name in names or ["GEMINI.md"]]
    return read_texts(project, files, imports=True)


def _read_names(settings: Path) -> list[str]:
    """Return the names of files of instructions in a file of settings; none if it has none."""
    from memory_bank.agents.client_files import mcp_client
    from memory_bank.bank import written_files

    with suppress(MemoryBankError):
        text = written_files.read_text(settings) or ""
        entry = mcp_client(NAME).editor.value_at(text, ("context", "fileName"))
        return [str(name) for name in (entry if isinstance(entry, list) else [entry]) if name]
    return []
