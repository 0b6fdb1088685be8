"""Many calls at once on one connection: threads of one server share one bank."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from memory_bank.bank.bank import open_bank
from memory_bank.memory.forget import forget
from tests.support.waiting import until

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


TEXT = "Hippogriff 77"


def holders(project: Path) -> list[Path]:
    """Return the files of the bank and of the private state that have the text."""
    folders = (project / ".memories", Path(os.environ["XDG_STATE_HOME"]))
    files = [file for folder in folders for file in folder.rglob("*") if file.is_file()]
    return [file for file in files if TEXT.encode() in file.read_bytes()]


def text_of(result: dict[str, Any]) -> str:
    assert not result.get("isError"), result
    return str(result["content"][0]["text"])


@pytest.mark.slow
def test_a_server_that_has_the_bank_open_goes_on(
    process: Callable[..., Any], project: Path
) -> None:
    server = process(anew=True)
    server.greet()
    server.call("remember", content=f"# A beast\n\nThe {TEXT} sleeps beside the fountain.")
    given = {"session_id": "s-mcp", "title": f"Saw the {TEXT}", "obs_type": "discovery"}
    server.call("store_observation", **given)
    assert TEXT in text_of(server.call("recall", query=TEXT))
    until((project / ".memories/.index/vectors").is_dir)  # it watches, and listens to sessions
    with open_bank(project) as bank:
        done = forget(bank, TEXT)
    assert done.count >= 2
    assert holders(project) == []
    found = text_of(server.call("recall", query="fountain"))
    assert "The [forgotten] sleeps beside the fountain." in found
    assert TEXT not in text_of(server.call("recall", query=TEXT))
    server.call("store_observation", **{**given, "title": "Saw the gardener"})
    assert "gardener" in text_of(server.call("search", query="gardener"))
    server.call("remember", content="# A gardener\n\nWorks in the morning.")
    assert "morning" in text_of(server.call("recall", query="gardener morning"))
    assert server.hang_up()[0] == 0
    assert holders(project) == []
