"""An agent is told once what an answer must say beside what was asked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from memory_bank.base.paths import LEFT_ALONE

from .conftest import Agent


def test_an_index_that_is_left_alone_is_said_once(
    serving: Callable[..., Agent], project: Path
) -> None:
    (project / ".memories/.index").mkdir()
    (project / ".memories/.index/manifest.db").write_bytes(b"")
    agent = serving()
    found = agent("recall", query="tantivy")
    assert found.text.endswith(f"\nNotice: {LEFT_ALONE}.")
    assert "Notice" not in agent("recall", query="tantivy").text
