"""The store of a bank's sessions, for callers of the Python API."""

from __future__ import annotations

from functools import partial

from memory_bank.bank.bank import Bank
from memory_bank.sessions import observations
from memory_bank.sessions.notes.note_store import NoteStore
from memory_bank.sessions.records import ObservationQuery
from memory_bank.sessions.state import store_of


def session_store(bank: Bank) -> NoteStore:
    """Return the store of a bank's sessions, which implements `SessionStore`.

    It is used by one thread at a time; `close` it in the end. Raises BadInput where memory is
    turned off.
    """
    return store_of(bank, partial(_found, bank))


def _found(bank: Bank, query: ObservationQuery) -> list[str]:
    """Return the ids of the observations that a query finds, page by page."""
    ids: list[str] = []
    while len(ids) < query.limit:
        wanted = query.limit - len(ids)
        page = observations.search(
            bank,
            query.query,
            project=query.project or None,
            type="observation",
            obs_type=query.obs_types,
            concepts=query.concepts,
            files=query.files,
            date_start=query.since,
            date_end=query.before,
            limit=wanted,
            offset=query.offset + len(ids),
            order_by=query.order_by,
        )
        ids += (row.id for row in page.results)
        if page.count < min(wanted, observations.MOST):
            break
    return ids
