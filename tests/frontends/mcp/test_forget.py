"""A server goes on while another process forgets what its index has."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memory_bank.bank.bank import open_bank
from memory_bank.memory.forgetting.forget import forget

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
    deadline = time.monotonic() + 60
    while not (project / ".memories/.index/vectors").is_dir() and time.monotonic() < deadline:
        time.sleep(0.05)  # until it watches, and listens to sessions
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
