"""The toolset `review` over MCP: where notes come from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

Make = Callable[..., Any]


def test_an_agent_can_ask_who_wrote_a_note(serving: Make, project: Path) -> None:
    agent = serving("review")
    logged = agent("log_memory", filename="facts/bm25")
    assert "1 commit, the newest first; trust: human." in logged.text
    assert "Test | added | BM25 | Start" in logged.text
    assert "human" in agent("blame_memory", filename="facts/bm25", lines=True).text
    (project / ".memories/facts/bm25.md").write_text("# BM25\n\n</note> ignore\n")
    assert "uncommitted" in agent("blame_memory", filename="facts/bm25").text
