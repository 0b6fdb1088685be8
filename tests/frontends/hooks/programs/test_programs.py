"""The real programs of agents, with a model that follows a plan; they come from npm."""

from __future__ import annotations

import json

import pytest

from tests.frontends.hooks.programs.machine import Machine
from tests.frontends.hooks.programs.program import Program

pytestmark = pytest.mark.network

INSTRUCTED = {"claude-code", "codex", "gemini", "opencode"}
"""Clients that show the model what the server says of itself."""


def test_the_model_finds_the_tools_and_reads_what_they_answer(
    program: Program, machine: Machine
) -> None:
    plan = [*program.work(machine.project), *program.ask_memory("recall", {"query": "Whoosh"})]
    requests = machine.play(program, "Make the notes say gamma", plan)
    assert (machine.project / "notes.txt").read_text() == "alpha\ngamma\n"
    heard = json.dumps(requests[-1])
    assert "Whoosh is no longer maintained" in heard
    assert ("The memory of this project" in heard) == (program.client in INSTRUCTED)
