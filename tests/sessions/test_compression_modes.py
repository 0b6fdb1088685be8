"""The modes of compression, whatever the rules make of events."""

import json
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory_bank.base.errors import BadInput
from memory_bank.base.setting_sections import CompressionSettings
from memory_bank.sessions.compression import modes
from memory_bank.sessions.compression.modes import compress
from memory_bank.sessions.records import Event, Observation, Prompt

WHEN = datetime(2026, 11, 22, 10, tzinfo=UTC)
EDIT = Event(7, "s", "Edit", '{"file_path": "/p/src/job.py", "old_string": "a", "new_string": "b"}',
             '{"filePath": "/p/src/job.py"}', 2, WHEN, cwd="/p")  # fmt: skip
RUN = Event(
    8, "s", "Bash", '{"command": "pytest -q"}', "Exit code 1\n2 failed", 2, WHEN, True, "/p"
)


def test_none_keeps_each_event_with_all_its_text() -> None:
    (edit, run), _ = compress(
        [EDIT, RUN], prompts=(), settings=CompressionSettings(mode="none"), project_root=None
    )
    assert (edit.title, edit.files_modified) == ("Edit: /p/src/job.py", ("/p/src/job.py",))
    assert EDIT.tool_input in edit.narrative
    assert (run.title, run.prompt_number) == ("Bash fails: pytest -q", 2)
    assert "2 failed" in run.narrative


ANSWER = {
    "observations": [
        {"obs_type": "Bugfix", "title": "Retry\nthree times " + "x" * 200, "facts": ["\x1b[31mred\x1b[0m"],
         "concepts": ["Retries"], "files_modified": ["a.py"], "event_ids": [8, 99]},
        {"type": "discovery", "title": "It was slow", "narrative": "Because."},
    ]
}  # fmt: skip


def script(folder: Path, text: str) -> str:
    """Return the command line of a program."""
    file = folder / "a program.py"
    file.write_text(f"import json, sys, time, os\nasked = json.load(sys.stdin)\n{text}\n")
    return f'"{sys.executable}" "{file}"'


def asked(command: str) -> tuple[tuple[Observation, ...], str]:
    settings = CompressionSettings(mode="command", command=command, model="m1")
    prompts = [Prompt("s", 2, "Please do it", WHEN)]
    return compress([EDIT, RUN], prompts=prompts, settings=settings, project_root=Path("/p"))


def test_a_program_makes_the_observations(tmp_path: Path) -> None:
    log = tmp_path / "asked.json"
    text = f"open({str(log)!r}, 'w').write(json.dumps(asked)); print({json.dumps(ANSWER)!r})"
    (first, second), fallback = asked(script(tmp_path, text))
    assert not fallback
    assert (first.obs_type, first.title[:20], len(first.title)) == (
        "bugfix",
        "Retry three times xx",
        99,
    )
    assert (first.facts, first.concepts) == (("red",), ("retries",))
    assert (second.narrative, second.prompt_number) == ("Because.", 2)
    assert second.files_modified == ("src/job.py",), "a changed file is named anyway"
    assert second.discovery_tokens > 0
    question = json.loads(log.read_text())
    assert (question["model"], question["project"], question["session_id"]) == ("m1", "p", "s")
    assert question["prompts"][0]["prompt_text"] == "Please do it"
    assert question["events"][0]["tool_input"]["file_path"] == "/p/src/job.py"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("print('no')", "the answer is no JSON"),
        ("print('{}')", "the answer has no observations"),
        ("print('[1]')", "observation 1 of the answer is no object"),
        ("print(json.dumps([{'obs_type': 'bugfix'}]))", "observation 1 of the answer has no title"),
        ("print(json.dumps([{'obs_type': 'x', 'title': 't'}]))", "observation 1 of the answer has no known obs_type"),
        ("print(json.dumps([{'obs_type': 'bugfix', 'title': 't', 'facts': 'f'}]))", "facts of observation 1 of the answer is no list of texts"),
        ("print('[' * 100000)", "the answer is no JSON"),
        ("sys.exit('out of\\n memory')", "ended with exit code 1: out of memory"),
        ("print('x' * 9_000_000)", "printed more than 2,000,000 characters"),
        ("os.system('sleep 30')", "took longer than 0.5 s"),
    ],
)  # fmt: skip
def test_a_program_that_fails_leaves_it_to_the_rules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, reason: str
) -> None:
    monkeypatch.setattr(modes, "SECONDS", 0.5 if "sleep" in text else 30)
    made, fallback = asked(script(tmp_path, text))
    assert reason in fallback
    assert any("src/job.py" in one.files_modified for one in made)


@pytest.mark.parametrize(
    ("line", "reason"),
    [("", "is not set"), ("no-such-program-x", "can't be started"), ("'open", "can't be read")],
)
def test_a_program_that_cant_be_started_leaves_it_to_the_rules(line: str, reason: str) -> None:
    assert reason in asked(line)[1]


def test_a_program_is_not_looked_for_in_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "compress").write_text("#!/bin/sh\ntouch started\n")
    (tmp_path / "compress").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    assert "can't be started" in asked("./compress")[1]
    assert not (tmp_path / "started").exists()


def test_the_clients_model_makes_the_observations() -> None:
    given: list[tuple[str, int]] = []

    def sample(prompt: str, most: int) -> str:
        given.append((prompt, most))
        return f"Here you are:\n```json\n{json.dumps(ANSWER)}\n```\n"

    settings = CompressionSettings(mode="client")
    made, fallback = compress(
        [EDIT], prompts=(), settings=settings, project_root=None, sample=sample
    )
    assert (len(made), fallback) == (2, "")
    assert "/p/src/job.py" in given[0][0]

    def silent(prompt: str, most: int) -> str:
        raise BadInput("the client refused")

    _, fallback = compress([EDIT], prompts=(), settings=settings, project_root=None, sample=silent)
    assert fallback == "the client refused"
    _, fallback = compress([EDIT], prompts=(), settings=settings, project_root=None)
    assert fallback == "no client is there that offers its model"
