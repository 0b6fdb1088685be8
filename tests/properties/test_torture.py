"""A short torture: many writers at once, and kills at random moments. The long one is a command."""

import subprocess
import sys
from pathlib import Path

import pytest

from memory_bank.notes.storage import files
from memory_bank.notes.storage.folders import FolderEntry
from tests.benchmarks import torture
from tests.benchmarks.torture import Verdict, judge
from tests.benchmarks.writers import Log

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="forks, kills and swaps files"),
    pytest.mark.slow,
]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("one", "other"):
        (tmp_path / name).touch()
    if not files.exchange(FolderEntry(tmp_path / "one"), FolderEntry(tmp_path / "other")):
        pytest.skip("files can't be exchanged on this file system")
    root = tmp_path.resolve() / "bank"
    root.mkdir()
    return root


@pytest.mark.parametrize(
    ("operations", "kinds"),
    [
        (12, ("agent", "editor", "library", "library", "mender")),
        pytest.param(200, torture.KINDS, marks=pytest.mark.torture),
    ],
    ids=["short", "long"],
)
def test_a_crowd_loses_nothing(root: Path, operations: int, kinds: tuple[str, ...]) -> None:
    found = torture.crowd(root, operations, seed=7, kinds=kinds)
    assert found.wrongs == []
    assert found.counts["wrote"] > operations


@pytest.mark.parametrize("times", [6, pytest.param(500, marks=pytest.mark.torture)])
def test_kills_lose_nothing(times: int) -> None:
    """In a process of its own, which has no threads when it forks."""
    words = ["-m", "tests.benchmarks.torture", "--only", "kills", "--kills", str(times)]
    done = subprocess.run(
        [sys.executable, *words, "--minutes", "0"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{times} kills" in done.stdout


def history(root: Path, *rows: tuple[str, dict[str, object]], text: str = "") -> Verdict:
    logs = root.with_name("logs")
    logs.mkdir()
    for who, row in rows:
        Log(logs / f"{who}.jsonl").add(str(row.pop("what")), float(str(row.pop("began"))), **row)
    (root / "a.md").write_text(text)
    return judge(root, logs)


def test_the_judge_sees_what_is_lost(root: Path) -> None:
    wrote = {"what": "wrote", "began": 1.0, "token": "toka0x1z", "dropped": []}
    assert "lost" in history(root, ("a", wrote)).wrongs[0]


def test_the_judge_forgives_what_was_left_out_knowingly(root: Path) -> None:
    first = {"what": "wrote", "began": 1.0, "token": "toka0x1z", "dropped": []}
    then = {"what": "wrote", "began": 2.0, "token": "tokb0x1z", "dropped": ["toka0x1z"]}
    assert history(root, ("a", first), ("b", then), text="tokb0x1z\n").wrongs == []


def test_the_judge_sees_a_torn_note_and_a_conflict_with_nobody(root: Path) -> None:
    refused = {"what": "refused", "began": 1.0, "of": "update", "code": "conflict", "said": ""}
    wrongs = history(root, ("a", refused), text="toka0x1\n").wrongs
    assert len(wrongs) == 2
    assert any("torn" in wrong for wrong in wrongs)
    assert any("nobody" in wrong for wrong in wrongs)


def test_the_judge_sees_a_note_that_hid(root: Path) -> None:
    wrote = {"what": "wrote", "began": 1.0, "token": "toka0x1z", "dropped": []}
    missed = {"what": "searched", "began": 2.0, "token": "toka0x1z", "missed": True, "problem": ""}
    found = history(root, ("a", wrote), ("b", missed), text="toka0x1z\n")
    assert "not found" in found.wrongs[0]
