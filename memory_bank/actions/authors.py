"""Authors of notes, and agents that are known to have changed them."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from memory_bank import note_rows
from memory_bank.agents import agent_name
from memory_bank.bank import Bank
from memory_bank.note_rows import NoteRow

AGENT = "agent"
UNNAMED = "an agent"
"""The name of an agent that gives none."""


def writer(source_type: str, source_agent: str) -> str | None:
    """Return the name of the agent that wrote a note; None for a person."""
    name = agent_name(source_agent)
    return name or (UNNAMED if source_type == AGENT else None)


def record(bank: Bank, paths: Iterable[str], agent: str | None) -> str:
    """Record that an agent changed notes; return a warning if that failed, else an empty text.

    Changes by a person (`agent` is None) are not recorded.
    """
    if agent is None:
        return ""
    wanted = list(paths)
    with bank.lock:
        rows = bank.read(lambda view: [note_rows.note_at(view.manifest, path) for path in wanted])
        known = [row.key if row else path for path, row in zip(wanted, rows, strict=True)]
        return bank.logs.edits.add(known, agent_name(agent) or UNNAMED, time.time())


def editors(bank: Bank, notes: Sequence[NoteRow]) -> dict[str, tuple[str, ...]]:
    """Map the paths of notes to the agents known to have changed them, without their authors."""
    with bank.lock:
        seen = bank.logs.edits.of(name for one in notes for name in {one.id or one.path, one.path})
    found = {}
    for note in notes:
        agents = dict.fromkeys((*seen.get(note.id, ()), *seen.get(note.path, ())))
        author = writer(note.source_type, str(note.rest.get("source_agent", "")))
        found[note.path] = tuple(name for name in agents if name != author)
    return found


def warnings(*texts: str | None) -> str | None:
    """Join warnings into one text; None if there are none."""
    return "; ".join(filter(None, texts)) or None
