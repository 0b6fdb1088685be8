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

__version__ = "0.1.0"

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memory_bank.actions.ask import ask
    from memory_bank.actions.blast_radius import blast_radius
    from memory_bank.actions.bulk import Item, remember_many
    from memory_bank.actions.context import inject_context
    from memory_bank.actions.create import create
    from memory_bank.actions.doctor import doctor
    from memory_bank.actions.edit import append, edit, set_status, update
    from memory_bank.actions.evaluate import Judged, Qrels, evaluate
    from memory_bank.actions.explain_symbol import explain_symbol
    from memory_bank.actions.forget import forget
    from memory_bank.actions.imports import import_notes
    from memory_bank.actions.listing import list_notes, show, tag_counts
    from memory_bank.actions.move_and_merge import merge, rename
    from memory_bank.actions.navigate import ghosts, links_of, path_between, related
    from memory_bank.actions.observation_details import get_observations
    from memory_bank.actions.observations import changes_for_file, decisions, search_observations
    from memory_bank.actions.promote import promote
    from memory_bank.actions.prune import prune
    from memory_bank.actions.recall import recall
    from memory_bank.actions.recall_at import recall_at
    from memory_bank.actions.remember import remember, session_note
    from memory_bank.actions.session_events import subscribe
    from memory_bank.actions.session_stores import session_store
    from memory_bank.actions.sessions import (
        compress,
        end_session,
        list_sessions,
        show_session,
        start_session,
        store_observation,
        store_prompt,
    )
    from memory_bank.actions.setup import init
    from memory_bank.actions.stats import stats
    from memory_bank.actions.symbols import symbol
    from memory_bank.actions.tests_for import tests_for
    from memory_bank.actions.timeline import timeline
    from memory_bank.actions.transcripts import import_sessions
    from memory_bank.actions.trash import delete, empty_trash, restore, trash
    from memory_bank.bank import Bank, open_bank
    from memory_bank.codebase import Codebase, open_codebase
    from memory_bank.errors import MemoryBankError

_HOMES = {
    "actions.blast_radius": ("blast_radius",),
    "actions.bulk": ("Item", "remember_many"),
    "actions.context": ("inject_context",),
    "actions.create": ("create",),
    "actions.doctor": ("doctor",),
    "actions.evaluate": ("Judged", "Qrels", "evaluate"),
    "actions.explain_symbol": ("explain_symbol",),
    "actions.ask": ("ask",),
    "actions.forget": ("forget",),
    "actions.imports": ("import_notes",),
    "actions.listing": ("list_notes", "show", "tag_counts"),
    "actions.navigate": ("ghosts", "links_of", "path_between", "related"),
    "actions.move_and_merge": ("merge", "rename"),
    "actions.observation_details": ("get_observations",),
    "actions.observations": ("changes_for_file", "decisions", "search_observations"),
    "actions.promote": ("promote",),
    "actions.prune": ("prune",),
    "actions.recall": ("recall",),
    "actions.recall_at": ("recall_at",),
    "actions.remember": ("remember", "session_note"),
    "actions.session_events": ("subscribe",),
    "actions.session_stores": ("session_store",),
    "actions.sessions": (
        "compress",
        "end_session",
        "list_sessions",
        "show_session",
        "start_session",
        "store_observation",
        "store_prompt",
    ),
    "actions.setup": ("init",),
    "actions.transcripts": ("import_sessions",),
    "actions.stats": ("stats",),
    "actions.symbols": ("symbol",),
    "actions.tests_for": ("tests_for",),
    "actions.timeline": ("timeline",),
    "actions.trash": ("delete", "empty_trash", "restore", "trash"),
    "actions.edit": ("append", "edit", "set_status", "update"),
    "bank": ("Bank", "open_bank"),
    "codebase": ("Codebase", "open_codebase"),
    "errors": ("MemoryBankError",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Bank",
    "Codebase",
    "Item",
    "Judged",
    "MemoryBankError",
    "Qrels",
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
    "evaluate",
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
    "prune",
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
