"""`memory-bank agents`, as typed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from .conftest import Run


def test_a_bundle_is_written_checked_and_removed(
    mb: Run, project: Path, git: Callable[..., str]
) -> None:
    before = mb("agents", "bundle", "--check")
    assert (before.code, "missing " in before.out) == (1, True)
    assert mb("agents", "bundle", "--remove").out == "nothing to remove\n"
    assert git(project, "status", "--short") == ""
    written = mb("agents", "bundle", "--json").json
    assert len(written["changed"]) == len(written["files"]) > 10
    assert mb("agents", "bundle", "--check").code == 0
    assert mb("agents", "bundle", "--check", "--remove").code == 2
    mb("agents", "bundle", "--remove")
    assert git(project, "status", "--short") == ""
