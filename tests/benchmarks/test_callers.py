"""The sample of resolved calls shows both places."""

import sys
from pathlib import Path

import pytest

from tests.benchmarks import callers
from tests.support.files import write_files
from tests.support.shop import FILES


def test_each_call_is_printed_with_its_definition(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_files(project, FILES)
    monkeypatch.setenv("XDG_CACHE_HOME", str(project / "cache"))
    monkeypatch.setattr(sys, "argv", ["callers", str(project), "--shown", "50"])
    callers.main()
    shown = capsys.readouterr().out
    assert "python: " in shown
    assert "Order.place calls `self.check`" in shown
    assert "    shop/orders.py:14:         self.check()" in shown
    assert "  means Order.check (method)?\n    shop/orders.py:17:     def check(self):" in shown
