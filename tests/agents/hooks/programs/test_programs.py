"""The real programs of agents, with a model that follows a plan; they come from npm."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.agents.hooks.programs.dialects import Json
from tests.agents.hooks.programs.machine import Machine
from tests.agents.hooks.programs.program import FAILS, Program

pytestmark = pytest.mark.network

PROMPT = "Make the notes say gamma, not beta"
ASKED = "Before you stop"
"""The start of the question whether there is something to save."""
LEARNED = "The job needs the lock file\n\nIt fails while another one holds the lock."
SAVED = "?? .memories/facts/the-job-needs-the-lock.md"
INSTRUCTED = {"claude-code", "codex", "gemini", "opencode"}
"""Clients that show the model what the server says of itself."""


def test_a_session_is_kept_once_and_the_next_one_knows_of_it(
    program: Program, machine: Machine, git: Callable[..., str]
) -> None:
    clean = git(machine.project, "status", "--porcelain")
    work = program.work(machine.project)
    asking = program.ask_memory("recall", {"query": "Whoosh"})
    saving = program.ask_memory("remember", {"content": LEARNED, "type": "fact"})
    heard = [json.dumps(one) for one in machine.play(program, PROMPT, [*work, *asking, *saving])]

    assert (machine.project / "notes.txt").read_text() == "alpha\ngamma\n"
    assert ("The memory of this project" in heard[-1]) == (program.client in INSTRUCTED)
    assert "Whoosh is no longer maintained" in heard[-1]
    assert ASKED not in "".join(heard), "nobody sits before it: an answer would be its result"
    new = set(git(machine.project, "status", "--porcelain").splitlines()) - set(clean.splitlines())
    assert new == {"?? notes.txt", SAVED}

    (session,) = sessions(machine)
    assert session["agent"] == program.client
    assert session["ended_at"]
    kept = show(machine, session)
    assert [prompt["prompt_text"] for prompt in kept["prompts"]] == [PROMPT]
    changed = [file for each in kept["observations"] for file in each["files_modified"]]
    assert changed == ["notes.txt"]
    assert kept["summary"]["request"] == PROMPT

    asking = program.ask_memory("search", {"query": "the lock is held"})
    requests = machine.play(program, "What did we do?", asking)
    told = json.dumps(requests[0], ensure_ascii=False)
    assert "Learned and done in the last sessions" in told
    assert any(each["title"][:40] in told for each in kept["observations"])
    assert PROMPT not in told
    (failed,) = [each for each in kept["observations"] if FAILS in "".join(each["facts"])]
    assert failed["id"] in json.dumps(requests[-1])
    assert len(sessions(machine)) == 2
    assert show(machine, session) == kept


def sessions(machine: Machine) -> list[Json]:
    """Return the sessions that the bank knows."""
    found: list[Any] = machine.memory_bank_json("session", "list")["sessions"]
    return found


def show(machine: Machine, session: Json) -> Json:
    """Return what is kept of a session."""
    found: Json = machine.memory_bank_json("session", "show", session["session_id"])["session"]
    return found
