"""Tell in which session an agent works now."""

from __future__ import annotations

import os
from typing import NamedTuple

from memory_bank.actions.session_state import is_idle, opened, project_of
from memory_bank.bank import Bank
from memory_bank.manifest.entries import SESSION_ID
from memory_bank.note_rows import NoteRow
from memory_bank.notes.names import name_of
from memory_bank.sessions.note_store import NoteStore, checked_id
from memory_bank.sessions.note_text import one_line

LINK = "session"
"""The key with the link to the session's note."""
VARIABLES = ("CLAUDE_CODE_SESSION_ID", "COPILOT_AGENT_SESSION_ID")
"""Variables in which agents' programs tell their servers and commands the id of the session."""


class Current(NamedTuple):
    """The session that goes on."""

    session_id: str = ""
    """Empty if none is known."""
    path: str = ""
    """Its note; empty if nothing of the session is recorded."""


def current_session(bank: Bank, given: str = "") -> Current:
    """Return the session of an id, else the one that goes on, whose note is written if need be.

    The one that goes on is that of the environment, unless it has ended, else the only open one of
    the project. It isn't looked for where sessions are not captured. Raises BadInput for a wrong
    id, and that of a forgotten session.
    """
    if not (given.strip() or bank.settings.sessions.capture):
        return Current()
    with opened(bank) as store:
        found = checked_id(given) if given.strip() else _running(bank, store)
        if given.strip():
            store.check_not_forgotten(found)
        known = store.get_session(found) if found else None
        return Current(found, store.note_of(found) if known else "")


def _running(bank: Bank, store: NoteStore) -> str:
    """Return the id of the session that goes on; empty if that isn't known."""
    for name in VARIABLES:
        if found := one_line(os.environ.get(name, "")):
            known = store.queue.session(found)
            if store.queue.forgotten(found):
                continue
            if known is None or known.ended_at is None:
                return found  # a program may have begun another session since it set the variable
    project = project_of(bank)
    running = [
        one.session_id
        for one in store.queue.open_sessions()
        if one.project == project and not is_idle(store, one)
    ]
    return running[0] if len(running) == 1 else ""


def session_keys(
    session: Current, *, private: bool, near: NoteRow | None = None
) -> dict[str, object]:
    """Return the keys that name the session of a note; only those that change in `near`.

    A note that several sessions wrote has several. A tracked note gets no link: the session's note
    is on this machine only.
    """
    link = f"[[{name_of(session.path)}]]" if session.path and private else ""
    extra = near.rest.get("extra", {}) if near else {}
    keys: dict[str, object] = {}
    for key, value in ((SESSION_ID, session.session_id), (LINK, link)):
        there = extra.get(key) or []
        both = there if isinstance(there, list) else [there]
        if value and value not in both:
            keys[key] = [*both, value] if both else value
    return keys
