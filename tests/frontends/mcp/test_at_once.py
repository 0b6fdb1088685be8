"""Many calls at once on one connection: threads of one server share one bank."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

Make = Callable[..., Any]


@pytest.mark.slow
def test_calls_at_once_lose_nothing_and_fail_none(agent: Make, project: Path) -> None:
    calls: list[tuple[str, dict[str, Any]]] = []
    for number in range(12):
        calls += [
            ("append_memory", {"filename": "bm25", "content": f"Line {number}."}),
            ("remember", {"content": f"Thing {number} of twelve."}),
            ("recall", {"query": "tantivy ranking"}),
            ("read_memory", {"filename": "tantivy"}),
            ("search_linked_memories", {"query": "index", "target_document": "src/index.py"}),
            ("get_memory_stats", {}),
        ]
    calls += [("rename_memory", {"filename": "whoosh", "new_filename": "decisions/old"})]
    answers: list[Any] = []

    async def call(name: str, arguments: dict[str, Any]) -> None:
        answers.append((name, await agent.client.call_tool(name, arguments)))

    async def all_at_once() -> None:
        async with anyio.create_task_group() as tasks:
            for name, arguments in calls:
                tasks.start_soon(call, name, arguments)

    agent.ask(all_at_once)
    assert len(answers) == len(calls)
    for name, answer in answers:
        assert not answer.is_error, (name, answer.content)
        assert "problem" not in answer.structured_content, (name, answer.structured_content)
    text = (project / ".memories/facts/bm25.md").read_text()
    assert all(text.count(f"Line {number}.\n") == 1 for number in range(12))
    assert agent("get_memory_stats")["count"] == 3 + 12
