"""A secret from an agent: refused with a code that it understands, by every tool that writes."""

import random
import string
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.frontends.mcp.conftest import Agent

SECRET = "gh" + "p_" + "".join(random.Random(4).choices(string.ascii_letters + string.digits, k=36))
WRITES: dict[str, dict[str, Any]] = {
    "remember": {"content": f"one\ntwo\n{SECRET}"},
    "session_note": {"content": f"one\ntwo\n{SECRET}"},
    "create_memory": {"filename": "facts/new", "content": f"one\ntwo\n{SECRET}"},
    "append_memory": {"filename": "bm25", "content": f"one\ntwo\n{SECRET}"},
    "update_memory": {"filename": "bm25", "content": f"one\ntwo\n{SECRET}"},
    "edit_memory": {"filename": "bm25", "section": "BM25", "new": f"one\ntwo\n{SECRET}"},
    "merge_memories": {
        "source_files": ["bm25"],
        "target_file": "facts/one",
        "summary_content": f"one\ntwo\n{SECRET}",
    },
}


@pytest.mark.parametrize("tool", WRITES)
def test_a_tool_refuses_a_secret_with_its_kind_and_line(
    tool: str, agent: Agent, project: Path
) -> None:
    answer = agent(tool, **WRITES[tool])
    assert answer.error["code"] == "secret_found"
    assert "GitHub token (line 3)" in answer.error["message"]
    assert SECRET not in answer.text
    below = (project / ".memories").rglob("*")
    assert not any(SECRET.encode() in file.read_bytes() for file in below if file.is_file())


def test_no_tool_has_an_argument_that_allows_it(agent: Agent) -> None:
    answer = agent("remember", content=SECRET, allow_secret=True)
    assert answer.wrong
    assert SECRET not in answer.text


def test_nothing_of_it_is_on_stderr(process: Callable[..., Any]) -> None:
    server = process()
    server.greet()
    assert server.call("remember", content=SECRET)["isError"]
    code, said = server.hang_up()
    assert code == 0
    assert SECRET not in str(said)
