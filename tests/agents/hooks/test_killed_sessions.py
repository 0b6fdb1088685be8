"""A session whose program was killed gets its summary when the next one starts."""

import json
import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from memory_bank.bank.bank import open_bank
from memory_bank.base.locks import hold_lock
from memory_bank.sessions.note_reading import parse
from memory_bank.sessions.queue import EventQueue
from memory_bank.sessions.records import Session
from tests.agents.hooks.conftest import Hook
from tests.support.waiting import until

pytestmark = pytest.mark.slow

AGENT = """
import json, subprocess, sys, time
for client, event, payload in json.loads(sys.argv[1]):
    words = [sys.executable, "-m", "memory_bank", "hook", client, event]
    said = subprocess.DEVNULL
    subprocess.run(words, input=json.dumps(payload), text=True, check=True, stdout=said)
print("working", flush=True)
time.sleep(60)
"""
HOURS = 7.0


def work(hook: Hook, session: str, hours: float, *, ends: bool = False) -> list[list[object]]:
    """Return the events of a session some hours ago, which Gemini CLI dates."""
    when = (datetime.now(UTC) - timedelta(hours=hours)).isoformat().replace("+00:00", "Z")
    base = {"session_id": session, "cwd": str(hook.project), "timestamp": when}
    edit = {"file_path": str(hook.project / "src/job.py"), "content": "a = 1\n"}
    done = {"llmContent": "Wrote the file", "returnDisplay": ""}
    said: list[list[object]] = [
        ["gemini", "SessionStart", {**base, "source": "startup"}],
        ["gemini", "BeforeAgent", {**base, "prompt": f"Start the job of {session} again"}],
        ["gemini", "AfterTool",
         {**base, "tool_name": "write_file", "tool_input": edit, "tool_response": done}],
    ]  # fmt: skip
    return [*said, ["gemini", "SessionEnd", {**base, "reason": "exit"}]] if ends else said


def killed(hook: Hook, events: list[list[object]]) -> None:
    """Run a program that reports events, and kill it with all its children while it works."""
    with subprocess.Popen(
        [sys.executable, "-c", AGENT, json.dumps(events)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=hook.project,
        env=hook.environ,
        start_new_session=True,
    ) as program:
        assert program.stdout
        assert program.stdout.readline() == "working\n"
        os.killpg(program.pid, signal.SIGKILL)
    assert program.returncode == -signal.SIGKILL


def start(hook: Hook, session: str = "next") -> Any:
    payload = {"session_id": session, "cwd": str(hook.project), "source": "startup"}
    return hook.answer("claude-code", "SessionStart", payload)


def notes(state: Path) -> dict[str, Session]:
    """Return the sessions of the notes, without a query that would compress what waits."""
    files = sorted((state / "notes").rglob("*.md"))
    found = (parse(file.name, file.read_bytes()) for file in files)
    return {one.session_id: one for one in found if one}


def test_it_is_ended_with_a_summary_at_the_next_start(hook: Hook, state: Path) -> None:
    killed(hook, work(hook, "gone", HOURS))
    assert not (session := notes(state).get("gone")) or not session.summary
    start(hook)
    until(lambda: (one := notes(state).get("gone")) and one.summary and one.ended_at)
    one = notes(state)["gone"]
    assert one.summary
    assert one.summary.request == "Start the job of gone again"
    assert [seen.files_modified for seen in one.observations] == [("src/job.py",)]
    assert one.ended_at
    late = datetime.now(UTC) - one.ended_at
    assert timedelta(hours=HOURS - 0.1) < late < timedelta(hours=HOURS + 0.1), "when it was killed"
    queue = EventQueue(state)
    assert [one.session.session_id for one in queue.outlines(ongoing=True)] == ["next"]
    queue.close()


def test_no_agent_waits_for_it(hook: Hook, state: Path) -> None:
    killed(hook, work(hook, "gone", HOURS))
    folder = state / "compressing"
    folder.mkdir(parents=True, exist_ok=True)
    with hold_lock(folder):  # nothing can be compressed
        start(hook)
        queue = EventQueue(state)
        time.sleep(1)  # what follows the hook finds that another process compresses
        assert open_ids(queue) == {"gone", "next"}
    until(lambda: "gone" not in open_ids(queue))
    queue.close()


def test_a_session_that_may_go_on_stays_open(hook: Hook, state: Path) -> None:
    killed(hook, work(hook, "pausing", 5))
    killed(hook, work(hook, "gone", HOURS))
    start(hook)
    until(lambda: (one := notes(state).get("gone")) and one.ended_at)
    queue = EventQueue(state)
    assert {one.session.session_id for one in queue.outlines(ongoing=True)} == {"pausing", "next"}
    queue.close()


def test_a_session_of_long_ago_that_starts_again_goes_on(hook: Hook, state: Path) -> None:
    killed(hook, work(hook, "resumed", HOURS))
    killed(hook, work(hook, "gone", HOURS))
    start(hook, "resumed")
    until(lambda: (one := notes(state).get("gone")) and one.ended_at)
    queue = EventQueue(state)
    assert [one.session.session_id for one in queue.outlines(ongoing=True)] == ["resumed"]
    event = {"session_id": "gone", "cwd": str(hook.project), "prompt": "And now the tests"}
    hook("claude-code", "UserPromptSubmit", event)
    assert {one.session.session_id for one in queue.outlines(ongoing=True)} == {"resumed", "gone"}
    hook("claude-code", "SessionEnd", event)
    until(lambda: len(notes(state)["gone"].prompts) == 2 and "gone" not in open_ids(queue))
    queue.close()


def open_ids(queue: EventQueue) -> set[str]:
    return {one.session.session_id for one in queue.outlines(ongoing=True)}


def test_an_end_that_was_killed_is_made_up_for(
    hook: Hook, state: Path, tmp_path: Path, private_folders: Path
) -> None:
    """The machine is shut down while the session's events are compressed."""
    program = tmp_path / "summarise"
    program.write_text(f"#!/bin/sh\necho $PPID > '{tmp_path}/parent'\nexec sleep 60\n")
    program.chmod(0o755)
    settings = private_folders / "config/memory-bank/config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text(f'[compression]\nmode = "command"\ncommand = "{program}"\n')
    with open_bank(hook.project) as bank:
        assert bank.settings.compression.mode == "command"
    for client, event, payload in work(hook, "gone", 1, ends=True):
        hook(str(client), str(event), payload)
    parent = tmp_path / "parent"
    until(lambda: parent.exists() and parent.read_text().strip())
    os.kill(int(parent.read_text()), signal.SIGKILL)
    queue = EventQueue(state)
    assert queue.pending("gone")
    assert "gone" not in open_ids(queue)
    assert "gone" not in notes(state)
    settings.unlink()
    start(hook)
    until(lambda: (one := notes(state).get("gone")) and one.summary)
    assert not queue.pending("gone")
    assert not queue.without_summary(time.time())
    queue.close()


@pytest.mark.parametrize("keep", ["private", "project"])
def test_its_note_is_where_the_others_are(hook: Hook, state: Path, keep: str) -> None:
    hook.environ["MEMORY_BANK_SESSIONS_KEEP"] = keep  # a project's file alone moves nothing private
    killed(hook, work(hook, "gone", HOURS))
    start(hook)
    queue = EventQueue(state)
    until(lambda: "gone" not in open_ids(queue))
    queue.close()
    until(lambda: list((hook.project / ".memories/sessions").rglob("*.md")) or notes(state))
    there = [*(hook.project / ".memories/sessions").rglob("*.md")]
    assert len(there) == (keep == "project")
    assert len(notes(state)) == (keep == "private")
