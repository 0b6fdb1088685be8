"""Issues of beads become notes with their dates, status and links."""

import json
from pathlib import Path

import pytest

from memory_bank.memory.importers import beads
from memory_bank.memory.importers.base import ImportedNote
from memory_bank.memory.records import NotImported

EPIC = {
    "id": "bd-1", "title": "Messaging", "description": "Agents talk.", "design": "A queue.",
    "status": "closed", "priority": 1, "issue_type": "epic", "created_at": "2025-03-01T10:00:00Z",
    "updated_at": "2025-03-02T10:00:00Z", "closed_at": "2025-03-03T10:00:00Z",
    "close_reason": "Done.", "labels": ["mail", 3],
}  # fmt: skip
BUG = {
    "id": "bd-1.2", "title": "It drops\nmail", "issue_type": "bug", "status": "open",
    "dependencies": [
        {"issue_id": "bd-1.2", "depends_on_id": "bd-1", "type": "parent-child"},
        {"issue_id": "bd-1.2", "depends_on_id": "bd-0", "type": "supersedes"},
        {"depends_on_id": "bd-9", "type": "blocks"}, "odd",
    ],
}  # fmt: skip


@pytest.fixture
def issues(tmp_path: Path) -> Path:
    file = tmp_path / "issues.jsonl"
    lines = [json.dumps(EPIC), json.dumps(BUG), "{}", "[]", "oops", '{"id": "\\ud800"}']
    file.write_text("\n".join(lines))
    return file


def test_an_issue_keeps_its_texts_dates_and_status(issues: Path) -> None:
    assert beads.detect(issues)
    epic, bug, *rest = beads.read(issues)
    assert isinstance(epic, ImportedNote)
    assert (epic.key, epic.item.name, epic.item.type) == ("bd-1", "issues/bd-1", "epic")
    assert epic.item.content == (
        "# Messaging\n\nAgents talk.\n\n## Design\n\nA queue.\n\n## Closed\n\nDone.\n"
    )
    assert epic.item.extra == {
        "status": "closed", "priority": 1, "closed_at": "2025-03-03T10:00:00Z"
    }  # fmt: skip
    assert epic.item.created_at is not None
    assert epic.item.created_at.day == 1
    assert epic.item.tags == ("mail",)
    assert isinstance(bug, ImportedNote)
    assert bug.item.type == "bugfix"
    assert bug.item.content.splitlines()[0] == "# It drops mail"
    assert bug.item.content.splitlines()[-3:] == [
        "- part_of:: [[issues/bd-1|bd-1]]",
        "- supersedes:: [[issues/bd-0|bd-0]]",
        "- depends_on:: [[issues/bd-9|bd-9]]",
    ]
    assert [one.place for one in rest if isinstance(one, NotImported)] == [
        "line 3", "line 4", "line 5", "line 6"
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["", "[]", '{"type": "entity", "name": "a"}', "# Note"])
def test_other_files_are_not_taken_for_issues(tmp_path: Path, text: str) -> None:
    (tmp_path / "x").write_text(text)
    assert not beads.detect(tmp_path / "x")
    assert not beads.detect(tmp_path)
