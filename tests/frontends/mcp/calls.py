"""A call of every tool, in an order in which each finds what it needs."""

from __future__ import annotations

from typing import Any, NamedTuple


class OneCall(NamedTuple):
    """A call of a tool, and what is in its answer."""

    tool: str
    arguments: dict[str, Any]
    text: tuple[str, ...]
    """What an agent needs next, in the text."""
    field: str
    """A field of the structure."""


CALLS = (
    OneCall(
        "remember",
        {"content": "# Queues\n\nJobs wait.", "tags": ["ops"], "file_refs": ["src/queue.py"]},
        ("action: created", 'path="facts/queues.md"', "id=", "etag=", "created_at=", 'tags="ops"'),
        "note_id",
    ),
    OneCall(
        "remember",
        {"content": "# Queues\n\nJobs wait.", "tags": ["again"]},
        ("action: updated_existing", 'path="facts/queues.md"', "id=", "etag=", 'tags="ops again"'),
        "note_id",
    ),
    OneCall(
        "recall",
        {"query": "where do jobs wait?", "limit": 3},
        ('at="facts/queues.md:', "id=", "score=", "tags=", 'files="src/queue.py"', "created_at="),
        "notes",
    ),
    OneCall(
        "session_note",
        {"content": "Tried SKIP LOCKED."},
        ("action: created", 'path="sessions/', "id=", "etag=", 'type="session"'),
        "note_id",
    ),
    OneCall(
        "create_memory",
        {"filename": "plans/next", "content": "# Next\n\nTwo."},
        ("action: created", 'path="plans/next.md"', "id=", "etag="),
        "path",
    ),
    OneCall(
        "append_memory",
        {"filename": "plans/next", "content": "Three."},
        ("Changed.", 'path="plans/next.md"', "etag="),
        "etag",
    ),
    OneCall(
        "read_memory",
        {"filename": "plans/next"},
        ('path="plans/next.md"', "id=", "etag=", "by=", "created_at=", "age=", "Three."),
        "content",
    ),
    OneCall(
        "update_memory",
        {"filename": "plans/next", "content": "# Next\n\nFour."},
        ("Changed.", 'path="plans/next.md"', "etag="),
        "etag",
    ),
    OneCall(
        "edit_memory",
        {"filename": "plans/next", "old": "Four", "new": "Five"},
        ("Changed.", 'path="plans/next.md"', "etag="),
        "etag",
    ),
    OneCall(
        "rename_memory",
        {"filename": "plans/next", "new_filename": "plans/then"},
        ("Moved.", 'old_path="plans/next.md"', ' path="plans/then.md"'),
        "path",
    ),
    OneCall(
        "search_memories",
        {"query": "five", "filter_tags": []},
        ('at="plans/then.md:', "id="),
        "notes",
    ),
    OneCall(
        "search_linked_memories",
        {"query": "why", "target_document": "src/index.py"},
        ('at="decisions/tantivy.md:', "link: decisions/tantivy.md:"),
        "notes",
    ),
    OneCall(
        "delete_memory",
        {"filename": "plans/then"},
        ("Moved to the trash", 'path="plans/then.md"', "restore_memory"),
        "version",
    ),
    OneCall(
        "restore_memory", {"filename": "plans/then"}, ("Restored.", 'path="plans/then.md"'), "path"
    ),
    OneCall(
        "merge_memories",
        {"source_files": ["plans/then", "facts/bm25"], "target_file": "m", "summary_content": "M"},
        ("Merged", 'path="m.md"', "id=", "etag=", "merged: facts/bm25.md", "decisions/tantivy.md"),
        "merged",
    ),
    OneCall(
        "recent_memories", {"limit": 2}, ("2 notes, the last changed first", ".md | "), "notes"
    ),
    OneCall(
        "search",
        {"query": "pure Python", "type": "note", "obs_type": []},
        (
            "1 result: ID | type | time",
            "decisions/whoosh | note | 2025-06-01",
            "Use timeline(anchor=ID)",
        ),
        "results",
    ),
    OneCall(
        "timeline",
        {"anchor": "decisions/whoosh", "depth_before": 0, "depth_after": 1},
        ("> decisions/whoosh | note |", "\ndecisions/tantivy | note |"),
        "anchor",
    ),
    OneCall(
        "get_observations",
        {"ids": ["decisions/whoosh", "obs-ffffffffffff"]},
        ('id="decisions/whoosh"', 'path="decisions/whoosh.md"', "is pure Python", "Not found: "),
        "observations",
    ),
    OneCall("decisions", {"limit": 1}, ("1 result: ID", " | note | "), "results"),
    OneCall("changes_for_file", {"file": "src/index.py"}, ("Nothing found.",), "count"),
    OneCall(
        "start_session",
        {"session_id": "calls"},
        ("(state: new, prompt_number: 0)", 'session_id="calls"'),
        "started_at",
    ),
    OneCall(
        "store_observation",
        {"session_id": "calls", "title": "Owls hunt at dusk", "obs_type": "discovery"},
        ("(observation_id: obs-",),
        "observation_id",
    ),
    OneCall("inject_context", {"project": "x"}, ("# [x] recent context",), "context"),
    OneCall("end_session", {"session_id": "calls"}, ("(summary_id: sum-",), "summary_id"),
    OneCall("__IMPORTANT", {}, ("1. search(query)", "3. get_observations"), "steps"),
    OneCall(
        "ask",
        {"query": "where is the index built", "include": ["symbols"]},
        ("symbol | ", "src/index.py:1 | build_index"),
        "results",
    ),
    OneCall(
        "symbol", {"name": "build_index"}, ("build_index | function | src/index.py:",), "symbol"
    ),
    OneCall(
        "explain_symbol",
        {"name": "build_index"},
        ("notes of its file:", "decisions/tantivy.md:"),
        "file_notes",
    ),
    OneCall(
        "blast_radius", {"file": "src/index.py"}, ("build_index | function | line 1",), "symbols"
    ),
    OneCall("get_memory_stats", {}, ("6 notes", "ops 1"), "count"),
    OneCall("sync_memories", {"rebuild": False}, ("Indexed ",), "seconds"),
    OneCall("check_memories", {}, ("6 notes", "passages."), "notes"),
    OneCall("review", {"revisions": "HEAD"}, ("changed", " tokens."), "changes"),
    OneCall("stale_memories", {}, ("citations of code stale",), "citations"),
    OneCall(
        "explain_line",
        {"target": "src/index.py:1"},
        ("build_index | function | src/index.py:1",),
        "definition",
    ),
    OneCall("log_memory", {"filename": "decisions/tantivy"}, ("decisions/tantivy.md",), "commits"),
    OneCall(
        "blame_memory", {"filename": "decisions/tantivy"}, ("decisions/tantivy.md",), "sections"
    ),
    OneCall(
        "confirm_memories", {"filename": "decisions/tantivy"}, ("1 note confirmed as of ",), "notes"
    ),
)
