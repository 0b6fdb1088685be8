"""Compression mode `none`: each event becomes an observation as it is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from memory_bank.base.text import estimate
from memory_bank.sessions.compression.definitions import Paths
from memory_bank.sessions.compression.drafts import Draft, cut, draft
from memory_bank.sessions.compression.tool_calls import ToolCall, read
from memory_bank.sessions.records import Event

_MOST = 100_000
"""Characters of the text of one event."""


def drafts(events: Sequence[Event], project_root: Path | None) -> tuple[Draft, ...]:
    """Return an observation for each event with all its text."""
    paths = Paths(project_root)
    return tuple(_draft(read(event), paths) for event in events)


def _draft(call: ToolCall, paths: Paths) -> Draft:
    event = call.event
    changed = [
        paths.shown(path, event.cwd)
        for change in call.changes
        for path in filter(None, (change.path, change.moved_to))
    ]
    about = call.command or call.path or call.words or ", ".join(changed) or event.tool_input
    named = [paths.shown(call.path, event.cwd)] if call.path and not changed else []
    return draft(
        "change" if changed else "discovery",
        f"{event.tool_name}{' fails' if call.failed else ''}: {cut(about, 120)}",
        event.created_at,
        narrative=f"Input:\n\n{event.tool_input}\n\nOutput:\n\n{event.tool_output}",
        files_read=named if call.kind == "read" else (),
        files_modified=changed,
        prompt_number=event.prompt_number,
        discovery_tokens=estimate(event.tool_input) + estimate(event.tool_output),
        event_ids=[event.id],
        most_narrative=_MOST,
    )
