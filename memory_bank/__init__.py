"""Project memory as Markdown files in your own git repository.

    from memory_bank import open_bank, recall, remember

    with open_bank(".") as bank:
        remember(bank, "We chose tantivy because …", tags=["search"], type="decision")
        for note in recall(bank, "why tantivy?").notes:
            print(note.path, note.line, note.relevance_score)

Every action is a function whose first argument is the bank. They are loaded when they are first
asked for, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memory_bank.base import __version__ as __version__

if TYPE_CHECKING:
    from memory_bank.agents.transcripts import import_sessions
    from memory_bank.bank.bank import Bank, open_bank
    from memory_bank.bank.setup import init
    from memory_bank.base.errors import MemoryBankError
    from memory_bank.code.explain_symbol import blast_radius, explain_symbol, tests_for
    from memory_bank.code.index.codebase import Codebase, open_codebase
    from memory_bank.code.symbols import symbol
    from memory_bank.memory.change import set_status
    from memory_bank.memory.confirm import promote
    from memory_bank.memory.create import create, remember_many
    from memory_bank.memory.edit import append, edit, update
    from memory_bank.memory.forget import forget
    from memory_bank.memory.import_notes import import_notes
    from memory_bank.memory.links import ghosts, links_of, path_between, related
    from memory_bank.memory.move_and_merge import merge, rename
    from memory_bank.memory.overview import stats
    from memory_bank.memory.records import Draft
    from memory_bank.memory.remember import remember, session_note
    from memory_bank.memory.retrieval.ask import ask
    from memory_bank.memory.retrieval.recall import recall, recall_at
    from memory_bank.memory.show import list_notes, show, tag_counts
    from memory_bank.memory.trash import delete, empty_trash, restore, trash
    from memory_bank.notes.note import Meta
    from memory_bank.review.doctor import doctor
    from memory_bank.sessions.compress import compress
    from memory_bank.sessions.context import inject_context
    from memory_bank.sessions.events import subscribe
    from memory_bank.sessions.get_observations import get_observations, timeline
    from memory_bank.sessions.listing import list_sessions, show_session
    from memory_bank.sessions.observations import (
        changes_for_file,
        decisions,
        search_observations,
        session_store,
    )
    from memory_bank.sessions.sessions import (
        end_session,
        start_session,
        store_observation,
        store_prompt,
    )

_HOMES = {
    "agents.transcripts": ("import_sessions",),
    "bank.bank": (
        "Bank",
        "open_bank",
    ),
    "bank.setup": ("init",),
    "base.errors": ("MemoryBankError",),
    "code.index.codebase": (
        "Codebase",
        "Draft",
        "open_codebase",
    ),
    "code.explain_symbol": ("blast_radius", "explain_symbol", "tests_for"),
    "code.symbols": ("symbol",),
    "memory.retrieval.ask": ("ask",),
    "memory.confirm": ("promote",),
    "memory.change": ("set_status",),
    "memory.create": (
        "create",
        "remember_many",
    ),
    "memory.edit": (
        "append",
        "edit",
        "update",
    ),
    "memory.records": ("Draft",),
    "memory.forget": ("forget",),
    "memory.import_notes": ("import_notes",),
    "memory.links": (
        "ghosts",
        "links_of",
        "path_between",
        "related",
    ),
    "memory.move_and_merge": (
        "merge",
        "rename",
    ),
    "memory.overview": ("stats",),
    "memory.retrieval.recall": (
        "recall",
        "recall_at",
    ),
    "memory.remember": (
        "remember",
        "session_note",
    ),
    "memory.show": (
        "list_notes",
        "show",
        "tag_counts",
    ),
    "notes.note": ("Meta",),
    "memory.trash": (
        "delete",
        "empty_trash",
        "restore",
        "trash",
    ),
    "review.doctor": ("doctor",),
    "sessions.compress": ("compress",),
    "sessions.context": ("inject_context",),
    "sessions.events": ("subscribe",),
    "sessions.get_observations": ("get_observations", "timeline"),
    "sessions.listing": (
        "list_sessions",
        "show_session",
    ),
    "sessions.observations": (
        "changes_for_file",
        "decisions",
        "search_observations",
        "session_store",
    ),
    "sessions.sessions": (
        "end_session",
        "start_session",
        "store_observation",
        "store_prompt",
    ),
}
"""The public names of each module."""
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Bank",
    "Codebase",
    "Draft",
    "MemoryBankError",
    "Meta",
    "append",
    "ask",
    "blast_radius",
    "changes_for_file",
    "compress",
    "create",
    "decisions",
    "delete",
    "doctor",
    "edit",
    "empty_trash",
    "end_session",
    "explain_symbol",
    "forget",
    "get_observations",
    "ghosts",
    "import_notes",
    "import_sessions",
    "init",
    "inject_context",
    "links_of",
    "list_notes",
    "list_sessions",
    "merge",
    "open_bank",
    "open_codebase",
    "path_between",
    "promote",
    "recall",
    "recall_at",
    "related",
    "remember",
    "remember_many",
    "rename",
    "restore",
    "search_observations",
    "session_note",
    "session_store",
    "set_status",
    "show",
    "show_session",
    "start_session",
    "stats",
    "store_observation",
    "store_prompt",
    "subscribe",
    "symbol",
    "tag_counts",
    "tests_for",
    "timeline",
    "trash",
    "update",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401  (PEP 562)
    """Load a public name from its home when it is first asked for."""
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    """List the public names, also those that are not loaded yet."""
    return sorted({*globals(), *_HOME_OF})
