"""Compression mode `none`: each event becomes an observation as it is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from memory_bank.base.text import estimate
from memory_bank.sessions.compression.definitions import Paths
from memory_bank.sessions.compression.sentences import telling
from memory_bank.sessions.compression.texts import bounded, cut, unnamed
from memory_bank.sessions.compression.tool_calls import ToolCall, read
from memory_bank.sessions.records import Event, Observation

_MOST = 100_000
"""Characters of the text of one event."""


def observations(events: Sequence[Event], project_root: Path | None) -> tuple[Observation, ...]:
    """Return an observation for each event with all its text."""
    paths = Paths(project_root)
    return tuple(_observation(read(event), paths) for event in events)


def _observation(call: ToolCall, paths: Paths) -> Observation:
    event = call.event
    changed = [
        paths.shown(path, event.cwd)
        for change in call.changes
        for path in filter(None, (change.path, change.moved_to))
    ]
    about = call.command or call.path or call.words or ", ".join(changed) or event.tool_input
    title = f"{event.tool_name}{' fails' if call.failed else ''}: {cut(about, 120)}"
    narrative = f"Input:\n\n{event.tool_input}\n\nOutput:\n\n{event.tool_output}"
    if call.kind == "message":
        title, narrative = (
            telling(event.tool_output) or cut(event.tool_output, 90),
            event.tool_output,
        )
    named = [paths.shown(call.path, event.cwd)] if call.path and not changed else []
    made = unnamed(
        "change" if changed else "discovery",
        title,
        event.created_at,
        narrative=narrative,
        prompt_number=event.prompt_number,
        discovery_tokens=estimate(event.tool_input) + estimate(event.tool_output),
    )
    read_files = named if call.kind == "read" else ()
    return bounded(made, files_read=read_files, files_modified=changed, narrative=_MOST)
