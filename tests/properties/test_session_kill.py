"""Killed at any moment, agents and compression lose nothing that was stored, and store nothing twice."""

import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.bank.bank import open_bank
from memory_bank.sessions.compress import compress
from memory_bank.sessions.listing import list_sessions, show_session
from memory_bank.sessions.state import open_store
from tests.properties.session_workers import SETTINGS

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="forks, and kills by SIGKILL"),
    pytest.mark.slow,
]

WORKERS = Path(__file__).with_name("session_workers.py")
ROOT = Path(__file__).parents[2]


def run(acks: Path, seed: int, kills: int, *folders: Path) -> set[str]:
    """Let processes work and be killed; return what they were told is stored."""
    acks.mkdir()
    words = [sys.executable, str(WORKERS), str(acks), str(seed), str(kills), *map(str, folders)]
    done = subprocess.run(
        words, cwd=ROOT, env=_environment(), capture_output=True, text=True, check=True
    )
    assert done.stdout == ""
    assert done.stderr == ""
    return {marker for file in acks.iterdir() for marker in file.read_text().split()}


def _environment() -> dict[str, str]:
    import os

    return {**os.environ, "PYTHONPATH": str(ROOT)}


def stored(folder: Path) -> Counter[str]:
    """Count in how many observations each event is, after what waits is compressed."""
    with open_bank(folder, settings=SETTINGS) as bank:
        done = compress(bank)
        assert (done.busy, done.problems) == (False, [])
        with open_store(bank) as store:
            assert store.get_pending() == []
        found: Counter[str] = Counter()
        for row in list_sessions(bank, 100).sessions:
            for one in show_session(bank, row.session_id).session.observations:
                found[one.title.split()[-1].strip('"}')] += 1
        return found


@pytest.mark.parametrize("trees", [1, 2])
@pytest.mark.parametrize("kills", [8, pytest.param(200, marks=pytest.mark.torture)])
def test_every_stored_event_is_in_exactly_one_observation(
    project: Path, tmp_path: Path, git: Callable[..., str], kills: int, trees: int
) -> None:
    """In two work trees, each has its own agents; both compress the events of all."""
    folders = [project]
    if trees > 1:
        folders.append(tmp_path / "tree")
        git(project, "worktree", "add", "-q", "-b", "other", str(folders[1]))
    told = run(tmp_path / "acks", kills + trees, kills, *folders)
    found = stored(project)
    assert len(told) > 5
    assert told - found.keys() == set()
    assert [marker for marker, many in found.items() if many > 1] == []
    for folder in folders:
        assert stored(folder) == found
        assert git(folder, "status", "--porcelain") == ""
