"""Hooks are started as agents' programs start them: a process that gets one event on stdin."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from memory_bank.bank.bank import open_bank
from memory_bank.base.locks import hold_lock
from memory_bank.sessions.queue import EventQueue
from tests.support import forked

FIXTURES = Path(__file__).parent / "fixtures"
RECORDED_AT = "/home/dev/shop"
"""The project's folder in recorded events."""


class Hook(NamedTuple):
    """What one event needs besides the event itself."""

    project: Path
    environ: dict[str, str]

    def __call__(
        self, client: str, event: str, payload: object = None, **environ: str
    ) -> subprocess.CompletedProcess[str]:
        """Send an event; check that the hook is silent and succeeds."""
        text = payload if isinstance(payload, str) else json.dumps(payload)
        done = forked.run(
            [sys.executable, "-m", "memory_bank", "hook", client, event],
            input=text.replace(RECORDED_AT, str(self.project)),
            capture_output=True,
            text=True,
            cwd=self.project,
            env={**self.environ, **environ},
        )
        assert (done.returncode, done.stderr) == (0, ""), done
        return done

    def answer(self, client: str, event: str, payload: object, **environ: str) -> Any:
        """Send an event; return the JSON of the answer, None if there is none."""
        said = self(client, event, payload, **environ).stdout
        return json.loads(said) if said else None

    def replay(self, client: str, pattern: str = "*.json", **environ: str) -> dict[str, Any]:
        """Send all recorded events of a client; return the answers by the files' names."""
        found = {}
        for file in sorted((FIXTURES / client).glob(pattern)):
            if "as-claude" in file.name:
                continue  # what Copilot CLI sends to hooks of Claude Code
            recorded = json.loads(file.read_text())
            event, sent = recorded["event"], recorded["stdin"]
            if client == "opencode":
                event, sent = _sent_by_plugin(event, sent)
            said = self.answer(client, event, sent, **environ) if event else None
            found[file.stem.partition("-")[2]] = said
        return found


def _sent_by_plugin(event: str, given: Any) -> tuple[str, object]:
    """Return what our plug-in sends when a hook of OpenCode gets something; no event if nothing."""
    sent = {"directory": RECORDED_AT}
    if event == "event":
        kind = given["type"] if given["type"] != "file.edited" else ""
        return kind, {**sent, "input": given["properties"]}
    if event == "factory":
        return "", None
    return event, {**sent, "input": given[0], "output": given[1]}


@pytest.fixture
def hook(
    project: Path, indexed_project: None, private_folders: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Hook]:
    """Send events of the project's sessions; what they left to the background ends with the test."""
    monkeypatch.setenv("HOME", str(private_folders))  # where programs keep which servers they have
    programs = ("CLAUDE", "GEMINI", "CURSOR", "COPILOT", "CODEX", "OPENCODE")
    environ = {name: value for name, value in os.environ.items() if not name.startswith(programs)}
    with open_bank(project) as bank:
        bank.sync()
    yield Hook(project, environ)
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if "--after" in (line := file.read_text(errors="replace")) and str(project) in line:
                os.kill(int(file.parent.name), signal.SIGKILL)


@pytest.fixture
def state(project: Path) -> Path:
    """Return the private state of the project's bank."""
    with open_bank(project) as bank:
        return bank.layout.state(bank.id)


@pytest.fixture
def queue(state: Path) -> Iterator[EventQueue]:
    """Read what the hooks stored, before what follows them compresses it."""
    folder = state / "compressing"
    folder.mkdir(parents=True)
    queue = EventQueue(state)
    with hold_lock(folder):
        yield queue
    queue.close()


@pytest.fixture
def failures() -> Callable[[], list[Any]]:
    """Return what the log of failures has."""

    def read() -> list[Any]:
        home = Path(os.environ["XDG_STATE_HOME"], "memory-bank")
        logs = sorted(home.rglob("hooks.log"))
        return [json.loads(line) for log in logs for line in log.read_text().splitlines()]

    return read
