"""Authors of notes, and agents that are known to have changed them."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from contextlib import suppress

from memory_bank.bank import open_index
from memory_bank.bank.bank import Bank
from memory_bank.bank.open_index import NoteRow
from memory_bank.base.errors import MemoryBankError
from memory_bank.base.text import agent_name
from memory_bank.git import repository
from memory_bank.notes.identity import hash_bytes

AGENT = "agent"

UNNAMED = "an agent"
"""The name of an agent that gives none."""


def name_writer(source_type: str, source_agent: str) -> str | None:
    """Return the name of the agent that wrote a note; None for a person."""
    name = agent_name(source_agent)
    return name or (UNNAMED if source_type == AGENT else None)


def record_writes(bank: Bank, paths: Iterable[str], agent: str | None) -> str:
    """Record that an agent changed notes; return a warning if that failed, else an empty text.

    Of changes by a person (`agent` is None), only the commit that is checked out is recorded.
    """
    path_list = list(paths)
    _record_head(bank, path_list)
    if agent is None:
        return ""
    with bank.lock:
        rows = bank.read(
            lambda view: [open_index.note_at(view.manifest, path) for path in path_list]
        )
        names = [row.known_as if row else path for path, row in zip(path_list, rows, strict=True)]
        return bank.state.add_writes(names, agent_name(agent) or UNNAMED, time.time())


def _record_head(bank: Bank, paths: Iterable[str]) -> None:
    """Record which code the writer of notes had: until they are committed, git can't say."""
    tree = repository.find_worktree(bank.layout.project)
    head = repository.read_head_commit(tree) if tree is not None else ""
    if not head:
        return
    etags = []
    for path in paths:
        with suppress(MemoryBankError):
            etags.append(hash_bytes(bank.store.read_bytes(path)))
    with bank.lock:
        bank.state.add_heads(etags, head, time.time())


def list_editors(bank: Bank, notes: Sequence[NoteRow]) -> dict[str, tuple[str, ...]]:
    """Map the path of each note to the agents known to have changed it, but for its author."""
    with bank.lock:
        agents_by_name = bank.state.writers(
            name for note in notes for name in {note.id or note.path, note.path}
        )
    editors = {}
    for note in notes:
        agents = dict.fromkeys(
            (*agents_by_name.get(note.id, ()), *agents_by_name.get(note.path, ()))
        )
        author = name_writer(note.source_type, str(note.data.get("source_agent", "")))
        editors[note.path] = tuple(name for name in agents if name != author)
    return editors


def join_warnings(*texts: str | None) -> str | None:
    """Join warnings into one text; None if there are none."""
    return "; ".join(filter(None, texts)) or None
