"""`memory-bank rules`, as typed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from .conftest import Run

Git = Callable[..., str]


def test_rules_are_listed_written_checked_and_removed(mb: Run, project: Path, git: Git) -> None:
    folder = project / ".memories/rules"
    folder.mkdir()
    (folder / "db.md").write_text('---\ntype: rule\napplies_to: "src/**"\n---\nKeys are uuid7.\n')
    assert mb("rules").code == 1
    assert "not committed" in mb("rules", "--pending").out
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "Rule")
    assert "Keys are uuid7." in mb("rules", "--for", "src/index.py").out
    assert mb("rules", "--for", "docs/x.md").code == 1
    assert mb("rules", "--for", "/etc/passwd").code == 2
    assert mb("rules", "--check").code == 1
    assert git(project, "status", "--short") == ""
    mb("rules", "--write")
    shown = json.loads(mb("rules", "--check", "--json").out)
    assert shown["state"] == "current"
    assert [one["name"] for one in shown["rules"]] == ["db"]
    mb("rules", "--remove")
    assert git(project, "status", "--short") == ""
    assert mb("rules", "--write", "--check").code == 2
