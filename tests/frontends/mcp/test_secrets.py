"""A secret from an agent: refused with a code that it understands, by every tool that writes."""

import random
import string
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.frontends.mcp.conftest import Agent

SECRET = "gh" + "p_" + "".join(random.Random(4).choices(string.ascii_letters + string.digits, k=36))
TEXT = f"one\ntwo\n{SECRET}"
WRITES: dict[str, dict[str, Any]] = {
    "remember": {"content": TEXT},
    "session_note": {"content": TEXT},
    "create_memory": {"filename": "facts/new", "content": TEXT},
    "append_memory": {"filename": "bm25", "content": TEXT},
    "update_memory": {"filename": "bm25", "content": TEXT},
    "edit_memory": {"filename": "bm25", "section": "BM25", "new": TEXT},
    "merge_memories": {"source_files": ["bm25"], "target_file": "a", "summary_content": TEXT},
}


def test_each_tool_refuses_a_secret_with_its_kind_and_line(agent: Agent, project: Path) -> None:
    for tool, arguments in WRITES.items():
        answer = agent(tool, **arguments)
        assert answer.error["code"] == "secret_found", tool
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
