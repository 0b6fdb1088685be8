"""A call of every tool, in an order in which each finds what it needs."""

from typing import Any, NamedTuple


class OneCall(NamedTuple):
    """A call of a tool, and a field of the structure of its answer."""

    tool: str
    arguments: dict[str, Any]
    field: str


CALLS = (
    OneCall(
        "remember",
        {"content": "# Queues\n\nJobs wait.", "tags": ["ops"], "file_refs": ["src/queue.py"]},
        "note_id",
    ),
    OneCall("remember", {"content": "# Queues\n\nJobs wait.", "tags": ["again"]}, "note_id"),
    OneCall("recall", {"query": "where do jobs wait?", "limit": 3}, "notes"),
    OneCall("session_note", {"content": "Tried SKIP LOCKED."}, "note_id"),
    OneCall("create_memory", {"filename": "plans/next", "content": "# Next\n\nTwo."}, "path"),
    OneCall("append_memory", {"filename": "plans/next", "content": "Three."}, "etag"),
    OneCall("read_memory", {"filename": "plans/next"}, "content"),
    OneCall("update_memory", {"filename": "plans/next", "content": "# Next\n\nFour."}, "etag"),
    OneCall("edit_memory", {"filename": "plans/next", "old": "Four", "new": "Five"}, "etag"),
    OneCall("rename_memory", {"filename": "plans/next", "new_filename": "plans/then"}, "path"),
    OneCall("search_memories", {"query": "five", "filter_tags": []}, "notes"),
    OneCall("search_linked_memories", {"query": "why", "target_document": "src/index.py"}, "notes"),
    OneCall("delete_memory", {"filename": "plans/then"}, "version"),
    OneCall("restore_memory", {"filename": "plans/then"}, "path"),
    OneCall(
        "merge_memories",
        {"source_files": ["plans/then", "facts/bm25"], "target_file": "m", "summary_content": "M"},
        "merged",
    ),
    OneCall("recent_memories", {"limit": 2}, "notes"),
    OneCall("search", {"query": "pure Python", "type": "note", "obs_type": []}, "results"),
    OneCall(
        "timeline", {"anchor": "decisions/whoosh", "depth_before": 0, "depth_after": 1}, "anchor"
    ),
    OneCall("get_observations", {"ids": ["decisions/whoosh", "obs-ffffffffffff"]}, "observations"),
    OneCall("decisions", {"limit": 1}, "results"),
    OneCall("changes_for_file", {"file": "src/index.py"}, "count"),
    OneCall("start_session", {"session_id": "calls"}, "started_at"),
    OneCall(
        "store_observation",
        {"session_id": "calls", "title": "Owls hunt at dusk", "obs_type": "discovery"},
        "observation_id",
    ),
    OneCall("inject_context", {"project": "x"}, "context"),
    OneCall("end_session", {"session_id": "calls"}, "summary_id"),
    OneCall("__IMPORTANT", {}, "steps"),
    OneCall("ask", {"query": "where is the index built", "include": ["symbols"]}, "results"),
    OneCall("symbol", {"name": "build_index"}, "symbol"),
    OneCall("explain_symbol", {"name": "build_index"}, "file_notes"),
    OneCall("blast_radius", {"file": "src/index.py"}, "symbols"),
    OneCall("get_memory_stats", {}, "count"),
    OneCall("sync_memories", {"rebuild": False}, "seconds"),
    OneCall("check_memories", {}, "notes"),
    OneCall("review", {"revisions": "HEAD"}, "changes"),
    OneCall("stale_memories", {}, "citations"),
    OneCall("explain_line", {"target": "src/index.py:1"}, "definition"),
    OneCall("log_memory", {"filename": "decisions/tantivy"}, "commits"),
    OneCall("blame_memory", {"filename": "decisions/tantivy"}, "sections"),
    OneCall("confirm_memories", {"filename": "decisions/tantivy"}, "notes"),
)
