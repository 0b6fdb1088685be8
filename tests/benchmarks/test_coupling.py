from pathlib import Path

import pytest

from tests.benchmarks import coupling
from tests.git.history_builder import Made, make


def test_held_out_commits_are_found_from_older_ones(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    older = [Made({"a": str(day), "b": str(day)}) for day in range(48)]
    newer = [Made({"a": f"n{day}", "b": f"n{day}"}) for day in range(6)]
    moved = Made({"new": "x"}, renames=[("b", "c")])
    later = [Made({"a": f"l{day}", "c": f"l{day}"}) for day in range(5)]
    tree = make(tmp_path / "flask", [*older, *newer, moved, *later])
    read = coupling.repository("flask", tree)
    assert len(read.history.commits) == 48
    assert read.files == {"a", "b"}
    # under its former name; what is new can't be found
    assert list(read.queries) == [
        *[("a", {"b"}), ("b", {"a"})] * 6, ("b", {"new"}), *[("a", {"b"}), ("b", {"a"})] * 5,
    ]  # fmt: skip
    assert coupling.recall(read, coupling.by_confidence(read)) == pytest.approx(22 / 23)
    coupling.main([str(tree)])
    out = capsys.readouterr().out
    assert "| flask | 48 | 23 |" in out
    assert "Critical: 0.96 of 23 pairs" in out


def test_what_can_not_be_measured_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MEMORY_BANK_REPOSITORIES", raising=False)
    coupling.main([])
    assert (
        capsys.readouterr().out == "skipped: name clones of repositories with their whole history\n"
    )
    coupling.main([str(tmp_path), str(tmp_path / "gone")])
    err = capsys.readouterr().err
    assert "it is no repository with its whole history" in err
    assert "does not exist" in err
