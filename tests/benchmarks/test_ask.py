"""The questions of a history are asked of the work tree before them."""

from pathlib import Path

import pytest

from tests.benchmarks import ask
from tests.benchmarks.commit_questions import held_out
from tests.git.history_builder import Made, make


def test_the_newest_fifth_is_asked_of_the_older_tree(tmp_path: Path) -> None:
    made = [Made({"a.py": f"A = {day}\n", "b.py": "B = 1\n"}) for day in range(9)]
    root = make(tmp_path / "made", [*made, Made({"b.py": "B = 2\n", "new.py": "C = 3\n"})])
    found = held_out(root, tmp_path / "work")
    assert "A = 7" in (found.tree / "a.py").read_text(encoding="utf-8")
    assert not (found.tree / "new.py").exists()
    assert [one.files for one in found.questions] == [{"b.py"}, {"a.py"}]


def test_recall_is_the_share_of_the_changed_files_among_the_first_five() -> None:
    question = ask.Question("x", frozenset(["a", "b"]))
    assert ask.recall([question], lambda _: ["c", "a", "d", "e", "f", "b"]) == 0.5


def test_without_a_repository_nothing_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    ask.main([])
    assert "nothing is measured" in capsys.readouterr().out
