"""The files of a repository that the parser refuses are counted."""

from pathlib import Path

import pytest

from tests.benchmarks import parse_limits
from tests.code.hostile_code import hostile


def test_refused_files_are_named(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "src/Prices.cs").write_bytes(hostile("generics on lines", 50_000))
    parse_limits.main([str(project)])
    said = capsys.readouterr().out
    assert "src/Prices.cs: it takes more than 128 MB to parse" in said
    assert "1 of 2 files refused" in said


def test_without_a_repository_nothing_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    parse_limits.main([])
    assert "nothing is measured" in capsys.readouterr().out
