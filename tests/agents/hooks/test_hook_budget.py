"""A hook indexes for a short time and in little memory, and leaves the rest to the background."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from memory_bank.agents.hook_bank import find_hook_bank
from memory_bank.bank.bank import open_bank
from memory_bank.search.manifest import document_rows
from tests.support.waiting import until

from .conftest import Hook

SECONDS, PEAK = 2.0, 200_000
LARGE = 'It sings "loudly" in the [[hedge]].\n\n## Nest\n\nOf *moss*, in four days.\n\n'

BANKS = {
    "3,000 ordinary notes": (3_000, 20),
    "30 notes of 3.6 MB": (30, 45_000),
}


MEASURED = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, used.ru_maxrss, file=sys.stderr)
"""
"""A process that started small: the peak of a child begins with that of the process that forks it."""


def resources(hook: Hook, event: str, **fields: str) -> tuple[float, int, str]:
    """Answer an event; return the hook's processor time, its peak of memory in kB, and its answer."""
    payload = {"session_id": "s", "cwd": str(hook.project), "hook_event_name": event, **fields}
    answered = subprocess.run(
        [
            sys.executable,
            "-c",
            MEASURED,
            sys.executable,
            "-P",
            "-m",
            "memory_bank",
            "hook",
            "claude-code",
            event,
        ],
        input=json.dumps(payload),
        capture_output=True,
        text=True,
        check=True,
        cwd=hook.project,
        env=hook.environ,
    )
    seconds, peak = answered.stderr.splitlines()[-1].split()
    return float(seconds), int(peak), answered.stdout


def indexed(root: str) -> int:
    with open_bank(root) as bank:
        return bank.read(lambda view: len(document_rows.all_keys(view.manifest)))


@pytest.mark.slow
@pytest.mark.parametrize("kind", BANKS)
def test_a_start_and_a_prompt_in_a_new_clone_stay_within_the_budget(
    project: Path, hook: Hook, kind: str
) -> None:
    number, parts = BANKS[kind]
    for note in range(number):
        text = f"# Wren {note}\n\n{LARGE * parts}"
        (project / f".memories/wren-{note}.md").write_text(text)
    for event, fields in (("SessionStart", {}), ("UserPromptSubmit", {"prompt": "the wrens"})):
        seconds, peak, _ = resources(hook, event, **fields)
        assert seconds < SECONDS * 1.25, "and a quarter, for a machine that does other work"
        assert peak < PEAK


def test_what_a_start_leaves_is_counted_and_indexed_afterwards(project: Path, hook: Hook) -> None:
    big = f"# Big wren\n\n{LARGE * 1_000}"
    (project / ".memories/big.md").write_text(big)
    _, _, answer = resources(hook, "SessionStart", source="startup")
    assert "3 notes in the bank and 1 that are not indexed yet" in answer
    bank = find_hook_bank(str(project))
    assert bank is not None
    until(lambda: indexed(bank.root) == 4)
    _, _, answer = resources(hook, "SessionStart", session_id="t", source="startup")
    assert "4 notes in the bank, the newest" in answer
