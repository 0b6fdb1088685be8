"""Compression by the model of a client that offers it, and without it if it doesn't."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import CreateMessageRequestParams, CreateMessageResult, TextContent

from memory_bank.bank.bank import open_bank
from memory_bank.sessions.listing import show_session
from memory_bank.sessions.sessions import store_observation, store_prompt
from tests.frontends.mcp.conftest import Agent

Make = Callable[..., Agent]
ANSWER = {"observations": [{"obs_type": "discovery", "title": "The tests pass with one worker"}]}


@pytest.fixture
def waiting(project: Path, private_folders: Path) -> Path:
    """Let a session of the project have an event that waits for the client's model."""
    settings = private_folders / "config" / "memory-bank" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('[compression]\nmode = "client"\n')
    with open_bank(project) as bank:
        store_prompt(bank, "s-1", "Run the tests")
        store_observation(bank, "s-1", "Bash", None, {"command": "pytest"}, "1 passed in 0.1s")
    return project


def titles(project: Path) -> list[str]:
    with open_bank(project) as bank:
        return [one.title for one in show_session(bank, "s-1").session.observations]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_clients_model_words_the_observations(serving: Make, waiting: Path, mode: str) -> None:
    asked: list[CreateMessageRequestParams] = []

    async def model(context: Any, params: CreateMessageRequestParams) -> CreateMessageResult:
        asked.append(params)
        content = TextContent(type="text", text=json.dumps(ANSWER))
        return CreateMessageResult(role="assistant", content=content, model="m")

    agent = serving("sessions", mode=mode, sampling_callback=model)
    assert agent("end_session", session_id="s-1")["summary_id"].startswith("sum-")
    if asked:
        assert titles(waiting) == ["The tests pass with one worker"]
        assert "1 passed" in str(asked[0].messages[0])
    else:
        assert mode == "auto", "the newer protocol has no way back to the client"
        assert titles(waiting) == ["pytest passes"]


def test_a_client_that_refuses_or_has_no_model_leaves_it_to_the_rules(
    serving: Make, waiting: Path
) -> None:
    async def model(context: Any, params: CreateMessageRequestParams) -> CreateMessageResult:
        raise MCPError(code=-1, message="the user refused")

    agent = serving("sessions", mode="legacy", sampling_callback=model)
    said = agent("end_session", session_id="s-1").text
    assert "compressed by rules: the client's model gave no answer" in said
    assert titles(waiting) == ["pytest passes"]


def test_a_client_without_a_model_leaves_it_to_the_rules(serving: Make, waiting: Path) -> None:
    said = serving("sessions")("end_session", session_id="s-1").text
    assert "compressed by rules: no client is there that offers its model" in said
    assert titles(waiting) == ["pytest passes"]
