"""The modes of compression, whatever the rules make of events."""

from __future__ import annotations

from datetime import UTC, datetime

from memory_bank.sessions.compression import compress
from memory_bank.sessions.model import Event
from memory_bank.setting_sections import Compression

WHEN = datetime(2026, 11, 22, 10, tzinfo=UTC)
EDIT = Event(7, "s", "Edit", '{"file_path": "/p/src/job.py", "old_string": "a", "new_string": "b"}',
             '{"filePath": "/p/src/job.py"}', 2, WHEN, cwd="/p")  # fmt: skip
RUN = Event(
    8, "s", "Bash", '{"command": "pytest -q"}', "Exit code 1\n2 failed", 2, WHEN, True, "/p"
)


def test_none_keeps_each_event_with_all_its_text() -> None:
    made = compress([EDIT, RUN], prompts=(), settings=Compression(mode="none"), project_root=None)
    edit, run = made.drafts
    assert (made.mode_used, made.fallback_reason) == ("none", "")
    assert (edit.title, edit.files_modified) == ("Edit: /p/src/job.py", ("/p/src/job.py",))
    assert EDIT.tool_input in edit.narrative
    assert (run.title, run.event_ids, run.prompt_number) == ("Bash fails: pytest -q", (8,), 2)
    assert "2 failed" in run.narrative
