from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.frontends.cli.conftest import Run
from tests.git.history_builder import Made, make


@pytest.fixture
def shop(tmp_path: Path, mb: Run, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a repository without a bank, where a.py changed with b.py three times."""
    made = [Made({"lib/a.py": f"A = {day}\n", "lib/b.py": f"B = {day}\n"}) for day in range(3)]
    root = make(tmp_path / "shop", [*made, Made({"lone.txt": "x\n"})])
    monkeypatch.chdir(root)
    return root


def test_a_table_of_files(shop: Path, mb: Run) -> None:
    answer = mb("coupling", "lib/a.py")
    assert answer.code == 0
    assert answer.out.splitlines()[0] == "lib/a.py, 3 commits"
    assert answer.out.splitlines()[1].split()[:6] == [
        "lib/b.py",
        "100%",
        "3",
        "2020-09-16",
        "High",
        "multi",
    ]


def test_a_path_is_meant_from_the_working_directory(
    shop: Path, mb: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(shop / "lib")
    for file in ("a.py", "./a.py", "lib/a.py"):
        assert mb("coupling", file, "--json").json["file"] == "lib/a.py"


def test_json_has_all_figures(shop: Path, mb: Run) -> None:
    found = mb("coupling", "lib/a.py", "--limit", "1", "--json").json
    assert {key: found[key] for key in ("schema_version", "file", "commits", "result_count")} == {
        "schema_version": "1.0", "file": "lib/a.py", "commits": 3, "result_count": 1,
    }  # fmt: skip
    (one,) = found["files"]
    assert one.keys() == {
        "file", "confidence", "support", "last_changed", "risk", "fused_score", "coupling_type",
        "snippet",
    }  # fmt: skip


def test_nothing_coupled_is_said(shop: Path, mb: Run) -> None:
    answer = mb("coupling", "lone.txt")
    assert (answer.code, answer.out) == (1, "")
    assert "no file is coupled with lone.txt (1 commit)" in answer.err


def test_errors_say_what_is_wrong(shop: Path, mb: Run) -> None:
    unknown = mb("coupling", "lib/aa.py")
    assert unknown.code == 1
    assert "did you mean lib/a.py" in unknown.err
    assert mb("coupling", "../outside").code == 2
    shutil.rmtree(shop / ".git")
    outside = mb("coupling", "lib/a.py")
    assert outside.code == 2
    assert "no git work tree" in outside.err


def test_doctor_tells_what_is_left_out_of_the_history(
    shop: Path, tmp_path: Path, mb: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone = ["git", "clone", "-q", "--depth=2", f"file://{shop}", str(tmp_path / "shallow")]
    subprocess.run(clone, check=True)
    monkeypatch.chdir(tmp_path / "shallow")
    assert mb("init").code == 0
    said = "this is a shallow clone of 1 commit"
    assert said in mb("coupling", "lib/a.py").err
    assert f"history: {said}" in mb("doctor").out
    assert mb("doctor", "--json").json["code"]["history"] == [said]
