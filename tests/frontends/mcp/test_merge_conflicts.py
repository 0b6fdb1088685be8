"""A note with a merge conflict: an agent is told of it, and writes it only to resolve it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.frontends.mcp.conftest import Agent

WRITES: dict[str, dict[str, Any]] = {
    "append_memory": {"filename": "facts/port", "content": "more"},
    "edit_memory": {"filename": "facts/port", "old": "8081", "new": "9090"},
    "rename_memory": {"filename": "facts/port", "new_filename": "facts/ports"},
    "merge_memories": {
        "source_files": ["facts/port", "facts/bm25"],
        "target_file": "facts/one",
        "summary_content": "one",
    },
    "create_memory": {"filename": "facts/new", "content": "<<<<<<< a\n=======\n>>>>>>> b\n"},
}


@pytest.fixture
def note(conflict: Callable[..., Path]) -> Path:
    return conflict("# Port\n\n8081\n", "# Port\n\n8082\n", base="# Port\n\n8080\n")


def test_a_write_is_refused_with_the_line_and_what_to_do(note: Path, agent: Agent) -> None:
    before = note.read_text()
    for tool, arguments in WRITES.items():
        error = agent(tool, **arguments).error
        assert error["code"] == "unreadable_note", tool
        assert "has an unresolved merge conflict (line " in error["message"]
        assert "edit_memory" in error["hint"]
        assert note.read_text() == before


def test_reading_tells_it_and_one_edit_resolves_it(note: Path, agent: Agent) -> None:
    assert (
        "facts/port.md:3: unresolved merge conflict"
        in agent("read_memory", filename="facts/port").text
    )
    text = note.read_text()
    assert not agent("edit_memory", filename="facts/port", old=text[8:], new="8082\n").wrong
    assert note.read_text() == "# Port\n\n8082\n"


def test_a_check_lists_it_with_what_to_do_in_a_quote(
    note: Path, serving: Callable[..., Agent]
) -> None:
    answer = serving("maintenance")("check_memories")
    mark = answer.text[answer.text.index("<q-") : answer.text.index(">") + 1]
    quoted = answer.text[answer.text.index(f"\n{mark}") :]
    assert "merge-conflict (1):\n  facts/port.md:3  unresolved merge conflict (fix: keep" in quoted
    assert "All is well" not in answer.text
