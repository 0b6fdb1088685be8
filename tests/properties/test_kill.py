"""Killed at any step, a bank loses no note, tears none, and heals when it is next used."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank import open_bank, recall
from memory_bank.actions.upkeep import compare
from tests.properties.dies_at import WORK

_SCRIPT = Path(__file__).with_name("dies_at.py")
_MOST_STEPS = 400


def _files(bank: Path) -> dict[str, str]:
    return {
        file.relative_to(bank).as_posix(): file.read_text(encoding="utf-8")
        for file in sorted(bank.rglob("*.md"))
        if not any(part.startswith(".") for part in file.relative_to(bank).parts)
    }


def _run(root: Path, work: str, step: int) -> int:
    words = [sys.executable, str(_SCRIPT), str(root), work, str(step)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode in {0, -signal.SIGKILL}, done.stderr
    return done.returncode


def _without_dates(files: dict[str, str]) -> dict[str, str]:
    """Leave out what differs from run to run: ids and times that are written anew."""
    volatile = ("id:", "created_at:", "updated_at:")
    return {
        path: "\n".join(line for line in text.split("\n") if not line.startswith(volatile))
        for path, text in files.items()
    }


@pytest.mark.skipif(sys.platform == "win32", reason="kills by SIGKILL")
@pytest.mark.parametrize("work", WORK)
def test_killed_at_any_step(
    project: Path, tmp_path: Path, work: str, git: Callable[..., str]
) -> None:
    before = _without_dates(_files(project / ".memories"))
    whole = tmp_path / "whole"
    shutil.copytree(project, whole)
    assert _run(whole, work, 10_000) == 0
    after = _without_dates(_files(whole / ".memories"))
    stride = 1 if work in {"rename", "merge"} else 2
    for step in range(1, _MOST_STEPS, stride):
        copy = tmp_path / f"step-{step}"
        shutil.copytree(project, copy)
        code = _run(copy, work, step)
        with open_bank(copy, settings={"memory.embedder": "none"}) as bank:
            answer = recall(bank, "tantivy", mode="lexical", count_access=False)
            assert answer.notes[0].path == "decisions/tantivy.md", step
            found = _without_dates(_files(copy / ".memories"))
            assert found in (before, after), (step, found)
            assert compare(bank).differences == (), step
        changed = git(copy, "status", "--porcelain", "--untracked-files=all").splitlines()
        assert all(line.endswith(".md") for line in changed), (step, changed)
        shutil.rmtree(copy)
        if code == 0:
            return
    pytest.fail(f"{work} takes more than {_MOST_STEPS} steps")
