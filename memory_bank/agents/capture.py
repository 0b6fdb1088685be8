"""Store what a hook of an agent's program reports: prompts and the use of tools.

A hook runs for each step of an agent; this module loads neither the index nor the settings.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Any

from memory_bank.agents.clients.base import HookEvent, ToolCall
from memory_bank.agents.hook_bank import HookBank
from memory_bank.agents.payload import message_key
from memory_bank.base import lazy_pattern
from memory_bank.base.errors import BadInput
from memory_bank.base.filenames import FOLDER
from memory_bank.sessions.queue import EventQueue
from memory_bank.sessions.queue_rows import MESSAGE, parse_time
from memory_bank.sessions.records import Event, GitState, Prompt, Session
from memory_bank.sessions.redaction import SECRET, redact, redact_id, redact_value

MOST_TEXT = 20_000
"""Characters of one text of an event that are kept; the middle of a longer one is cut out."""

_MOST_ALL = 200_000
"""Characters of all texts of an input or output that are kept."""

_WINDOW = 200_000
"""Characters at the start and end of a very long text in which secrets are looked for."""

# Of a cut text: errors stand at its end.
_SHARE_OF_END = 0.4

_DEEPEST = 100

_EDITS = frozenset(
    [
        *("edit", "multiedit", "write", "notebookedit", "applypatch", "patch", "writefile"),
        *("replace", "create", "createfile", "replacestringinfile", "multireplacestringinfile"),
        *("insertedit", "inserteditintofile", "editfile", "strreplace", "strreplaceeditor"),
        *("searchreplace", "strreplacebasededittool", "delete", "deletefile", "fileedit"),
    ]
)
"""Tools that change files, as clients name them, in lower-case letters alone."""

_OWN = ("memory-bank", "memory_bank")

_WORDED = frozenset(
    [
        *("remember", "store_observation", "end_session", "session_note", "create_memory"),
        *("edit_memory", "append_memory", "promote"),
    ]
)
"""Our tools by which an agent saves something in its own words."""

_OTHERS = frozenset(
    [
        *("recall", "search", "timeline", "get_observations", "inject_context", "start_session"),
        *("decisions", "changes_for_file", "blast_radius", "index_status", "__IMPORTANT"),
        *("ask", "symbol", "explain_symbol", "explain_line", "review"),
    ]
)

_SUBJECTS = ("memory", "memories", "memory_stats", "bank")
"""Ends of the names of our other tools."""

_BY_COMMAND = lazy_pattern(
    r"\b(?:memory-bank|mb)\s+(?:remember|append|edit|promote|session\s+end)\b"
)

_FORGET = lazy_pattern(r"\b(?:memory[-_]bank|mb)\b[^\n;&|]*?\sforget\b")


def open_queue(bank: HookBank) -> EventQueue:
    """Return the queue of a bank, which is opened when it is used.

    If its file was damaged and renamed, the log of hooks says so, and with it `doctor`.
    """

    def log_repair(text: str) -> None:
        from memory_bank.bank import hook_log  # start-up

        notice = f"started again: {text}"
        hook_log.record_failure("", "", notice, root=bank.root, state=bank.state)

    return EventQueue(Path(bank.state), log_repair)


def capture(
    bank: HookBank, queue: EventQueue, event: HookEvent, git: GitState | None = None
) -> bool:
    """Store an event of a hook durably in the bank's queue, without secrets and private spans.

    Use of this program's own tools is not an event, but whether the agent saved something by them
    is remembered. A command line that forgets a text has that text, so it is no event either.
    Returns whether this event filled a batch that is to be compressed. Raises StorageFailed, Busy.
    """
    when = parse_time(event.created_at or time.time())
    session = Session(event.session_id, bank.project, when, event.agent, git=git)
    prompt, key, stored = None, "", None
    secrets = set[str]()
    counts = dict(event.counts)
    if event.kind == "prompt":
        text, count = redact(_cut_around_private(event.prompt), bank.allowed, secrets)
        key, more = redact_id(event.key, bank.allowed)
        prompt = Prompt(event.session_id, 0, _cut_middle(text, MOST_TEXT), when)
        counts["redactions"] = count + more
    elif event.kind in ("tool", "subagent"):
        if _is_saving(event):
            counts["worded"] = True
        if not (is_own(event.call.name) or is_forgetting(event.call.input)):
            stored = _make_event(bank, event, counts, secrets)
    elif event.kind != "start":
        return False
    waiting = queue.capture(
        session,
        prompt=prompt,
        prompt_key=key,
        event=stored,
        counts=counts,
        received=event.name,
        secrets=secrets,
    )
    if secrets:
        _redact_note(bank, queue, event.session_id, secrets)
    limit = bank.max_batch_tokens
    # within a turn nothing is compressed, so that it is told as one
    return event.kind == "prompt" and waiting > limit


def _redact_note(
    bank: HookBank, queue: EventQueue, session_id: str, secrets: Collection[str]
) -> None:
    """Redact secrets in the note that the session has already, where nothing told them."""
    from memory_bank.bank.bank import open_bank  # start-up: few events have secrets
    from memory_bank.sessions.note_text import escape_heading, escape_markdown

    session = queue.session(session_id)
    path = session.path if session else ""
    forms = {
        form
        for secret in secrets
        for form in (secret, escape_markdown(secret), escape_heading(secret))
    }
    for folder in (Path(bank.state) / "notes", Path(bank.root)) if path else ():
        with suppress(FileNotFoundError):
            data = (folder / path).read_bytes()
            if any(form.encode() in data for form in forms):
                with open_bank(bank.root) as opened:
                    opened.store.change(path, lambda text: _replace_secrets(text, forms))


def _replace_secrets(text: str, forms: Collection[str]) -> str:
    for form in sorted(forms, key=len, reverse=True):
        text = text.replace(form, SECRET)
    return text


def make_message_event(event: HookEvent) -> HookEvent:
    """Return the last text of a turn as an event of its own."""
    call = ToolCall(MESSAGE, output=event.said)
    return event._replace(kind="tool", key=message_key(event.said), call=call)


def end(queue: EventQueue, event: HookEvent) -> None:
    """Note that a session has ended, if anything of it was stored; its summary is made later."""
    with suppress(BadInput):
        queue.update(event.session_id, ended_at=event.created_at or time.time())


def _make_event(
    bank: HookBank, event: HookEvent, counts: dict[str, int], secrets: set[str]
) -> Event:
    """Return an event as it is stored; count its redactions and edits, and add its secrets."""
    fields = {
        "input": _bound_texts(event.call.input),
        "output": _bound_texts(event.call.output),
        "tool": event.call.name[:200],
        "cwd": event.cwd,
    }
    redacted_fields: Any
    redacted_fields, count = redact_value(fields, bank.allowed, secrets)
    before, after, tool, cwd = redacted_fields.values()
    key, more = redact_id(event.key, bank.allowed)
    counts["redactions"] = count + more
    name = "".join(char for char in event.call.name.lower() if char.isalpha())
    counts["edits"] = name in _EDITS and not event.call.failed and _changes_project(bank, event)
    return Event(
        0,
        event.session_id,
        tool,
        _render_value({} if before is None else before),
        _cut_middle(after, MOST_TEXT)
        if isinstance(after, str)
        else ""
        if after is None
        else _render_value(after),
        event.prompt_number,
        parse_time(event.created_at or time.time()),
        event.call.failed,
        cwd,
        key,
    )


_PATHS = ("file_path", "filePath", "path", "notebook_path", "target_file", "filename")

_PATCHED = lazy_pattern(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)

_OF_AGENTS = frozenset([".claude", ".codex", ".copilot", ".cursor", ".gemini", ".opencode"])
"""Folders in a project with agents' own plans, memories and settings."""

_SCRATCH = frozenset(["scratch", "scratchpad", "temp", "tmp"])


def _changes_project(bank: HookBank, event: HookEvent) -> bool:
    """Return whether an edit is of a file of the project, not of a plan or scratch file."""
    folder, name = os.path.split(bank.root)
    project = os.path.realpath(folder if name == FOLDER else event.folder)
    arguments = event.call.input if isinstance(event.call.input, dict) else {}
    paths = [arguments.get(key) for key in _PATHS]
    changes = arguments.get("changes")
    paths += changes if isinstance(changes, dict) else ()
    for patch in (event.call.input, *arguments.values()):
        paths += _PATCHED.findall(patch) if isinstance(patch, str) and "*** " in patch else ()
    for path in paths:
        if isinstance(path, str) and path and "\0" not in path:
            whole = os.path.realpath(Path(event.cwd or event.folder) / path.strip())
            parts = Path(os.path.relpath(whole, project)).parts or (".",)
            if parts[0] not in ("..", *_OF_AGENTS) and _SCRATCH.isdisjoint(parts[:-1]):
                return True
    return False


def is_own(tool_name: str) -> bool:
    """Tell whether a tool is one of this program's server."""
    short = tool_name.removeprefix("MCP:")  # Cursor doesn't name the server
    endswith = short in _WORDED | _OTHERS or short.endswith(_SUBJECTS)
    return (short != tool_name and endswith) or any(name in tool_name.lower() for name in _OWN)


def is_forgetting(tool_input: object) -> bool:
    """Tell whether the input of a tool is a command line with `memory-bank forget`."""
    if not isinstance(tool_input, dict):
        return False
    for key in ("command", "cmd"):
        command = tool_input.get(key)
        text = " ".join(map(str, command)) if isinstance(command, list) else command
        if isinstance(text, str) and "forget" in text and _FORGET.search(text):
            return True
    return False


def _is_saving(event: HookEvent) -> bool:
    """Tell whether the agent saved something in its own words."""
    if event.call.failed:
        return False
    if is_own(event.call.name):
        return event.call.name.endswith(tuple(_WORDED))
    tool_input = event.call.input
    command = tool_input.get("command") if isinstance(tool_input, dict) else None
    if not isinstance(command, str) or not ("mb " in command or "memory-bank " in command):
        return False
    return _BY_COMMAND.search(command) is not None


def _render_value(value: object) -> str:
    """Return a value as JSON of bounded length."""
    text = ""
    for share in (1, 10, 100, 1000):
        text = json.dumps(_map_texts(value, MOST_TEXT // share), ensure_ascii=False)
        if len(text) <= _MOST_ALL:
            return text
    return json.dumps({"cut": f"{len(text):,} characters"})


def _bound_texts(value: object) -> Any:  # noqa: ANN401  (what JSON can hold)
    """Return a value whose texts have lengths in which secrets are found in time."""
    return _cut_around_private(value) if isinstance(value, str) else _map_texts(value, 0)


def _map_texts(value: object, limit: int, depth: int = 0) -> object:
    """Return a value with its texts cut to a limit, or shortened with limit 0."""
    if isinstance(value, str):
        return _cut_middle(value, limit) if limit else _cut_around_private(value)
    if depth > _DEEPEST:
        return "[too deep]"
    if isinstance(value, dict):
        return {str(key)[:1000]: _map_texts(item, limit, depth + 1) for key, item in value.items()}
    if isinstance(value, list):
        return [_map_texts(item, limit, depth + 1) for item in value]
    return value


def _cut_around_private(text: str) -> str:
    """Cut the middle out of a very long text, but not a part of a private span."""
    if len(text) <= 2 * _WINDOW:
        return text
    if re.search(r"<\s*+(?:/\s*+)?private", text, re.IGNORECASE):
        return f"[{len(text):,} characters with private parts were not stored]"
    return _join_ends(text, _WINDOW, _WINDOW)


def _cut_middle(text: str, limit: int) -> str:
    """Cut the middle out of a text of more than `limit` characters."""
    if len(text) <= limit:
        return text
    last = int(limit * _SHARE_OF_END)
    return _join_ends(text, limit - last, last)


def _join_ends(text: str, first: int, last: int) -> str:
    return f"{text[:first]}\n[… {len(text) - first - last:,} characters cut …]\n{text[-last:]}"
