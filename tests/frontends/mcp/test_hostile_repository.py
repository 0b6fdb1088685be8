"""A server starts nothing that a repository names, before its first call or later."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.code import hostile
from tests.frontends.mcp.conftest import Process

pytestmark = pytest.mark.slow


@pytest.mark.skipif(os.name == "nt", reason="the programs are shell scripts")
def test_a_server_starts_no_program_that_the_repository_names(
    process: Callable[..., Process], project: Path, tmp_path: Path, git: Callable[..., str]
) -> None:
    hostile.plant(project, hostile.trap(tmp_path), git, "--local")
    server = process("--toolsets", "store,bank,maintenance", anew=True)
    server.greet()
    manifest = project / ".memories/.index/manifest.db"
    for _ in range(200):  # the work behind the server needs no call
        if manifest.exists():
            break
        time.sleep(0.1)
    calls: tuple[tuple[str, dict[str, Any]], ...] = (
        ("recall", {"query": "tantivy"}),
        ("session_note", {"content": "words"}),
        ("remember", {"content": "others"}),
        ("check_memories", {}),
    )
    for tool, arguments in calls:
        answer = server.call(tool, **arguments)
        assert not answer.get("isError"), answer
    server.hang_up()
    assert not (tmp_path / "sprung").exists(), (tmp_path / "sprung").read_text()
