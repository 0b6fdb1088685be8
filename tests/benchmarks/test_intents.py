"""Tests are searched by what symbols say, and symbols by what tests say."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import shop
from tests.benchmarks import intents
from tests.git.history_builder import run


def test_a_line_is_printed_for_a_work_tree(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))  # put back afterwards
    shop.write(tmp_path / "shop", shop.FILES)
    run(tmp_path / "shop", "init", "-q")
    intents.main([str(tmp_path / "shop"), str(tmp_path)])
    _, found, missing = capsys.readouterr().out.splitlines()
    assert found.split() == ["shop", "1", "1.00", "3", "0.67"]
    assert "no git work tree" in missing
