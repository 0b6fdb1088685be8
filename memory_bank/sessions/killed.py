"""End the sessions whose programs were killed, so that they get their summaries."""

from __future__ import annotations

import time

from memory_bank.bank.bank import Bank
from memory_bank.base.errors import MemoryBankError
from memory_bank.sessions.note_format import FOLDER
from memory_bank.sessions.sessions import end_session
from memory_bank.sessions.state import is_idle, last_moment, opened

_ENDING_SECONDS = 600.0
"""Seconds that the process has which ends a session: a program or a model may make the
observations."""


def end_killed(bank: Bank, starting: str = "") -> list[str]:
    """End the sessions in which nothing happened for long, and those that ended without a summary.

    Call it after `compress`. The session that is `starting` goes on. Sessions with events that
    still wait, here or in another work tree, are left for the next time. Returns problems.
    """
    with opened(bank) as store:
        ids = [one.session_id for one in store.queue.open_sessions() if is_idle(store, one)]
        ids += store.queue.without_summary(time.time() - _ENDING_SECONDS)
    problems = []
    for session_id in ids:
        try:
            if session_id != starting:
                _end(bank, session_id)
        except MemoryBankError as error:
            problems.append(f"session {session_id[:60]}: {error.message}")
    return problems


def _end(bank: Bank, session_id: str) -> None:
    with opened(bank) as store:
        known, row = store.get_session(session_id), store.queue.session(session_id)
        if known is None or row is None or store.get_pending(session_id, 1):
            return
        private = bank.roots.is_private(f"{FOLDER}/new.md")
        if row.path and not known.path and not private:
            return  # its note is in another work tree
        if known.ended_at is not None and known.summary is not None:
            return
    end_session(bank, session_id, ended_at=known.ended_at or last_moment(known))
