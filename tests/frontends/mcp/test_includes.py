"""Files that the project's settings include: an agent finds and reads them, and changes none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.frontends.mcp.conftest import Agent

WRITES: dict[str, dict[str, Any]] = {
    "append_memory": {"filename": "CLAUDE", "content": "more"},
    "update_memory": {"filename": "docs/adr/0001.md", "content": "other"},
    "edit_memory": {"filename": "CLAUDE", "old": "osprey", "new": "kite"},
    "delete_memory": {"filename": "CLAUDE"},
    "rename_memory": {"filename": "CLAUDE", "new_filename": "guide"},
    "merge_memories": {
        "source_files": ["CLAUDE", "facts/bm25"],
        "target_file": "facts/one",
        "summary_content": "one",
    },
}


@pytest.fixture
def included(project: Path) -> Path:
    (project / "docs/adr").mkdir(parents=True)
    (project / "docs/adr/0001.md").write_text("# Postgres\n\n[[facts/bm25]] kestrel\n")
    (project / "CLAUDE.md").write_text("# Guide\n\nosprey\n")
    settings = '[memory]\ninclude = ["docs/adr", "CLAUDE.md"]\n'
    (project / ".memories/config.toml").write_text(settings)
    return project


def test_it_is_found_and_read_and_no_tool_changes_it(
    included: Path, agent: Agent, git: Callable[..., str]
) -> None:
    before = git(included, "status", "--porcelain")
    assert 'at="docs/adr/0001.md:' in agent("recall", query="kestrel").text
    shown = agent("read_memory", filename="docs/adr/0001").text
    assert "No tool can change this file: it is only included from the project." in shown
    for tool, arguments in WRITES.items():
        error = agent(tool, **arguments).error
        assert error["code"] == "note_read_only", tool
        assert "included by the setting memory.include" in error["message"]
        assert "link" in error["hint"]
    assert git(included, "status", "--porcelain") == before


def test_a_move_names_the_links_that_it_breaks(included: Path, agent: Agent) -> None:
    text = agent("rename_memory", filename="facts/bm25", new_filename="facts/ranking").text
    assert "links to the old name in files that are only included: unchanged" in text
    assert "docs/adr/0001.md:3" in text
