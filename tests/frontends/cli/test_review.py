"""`memory-bank review` on notes that are not committed, and on files that are included now."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.frontends.cli.conftest import Run

NOTE = (
    "---\ntype: fact\ntags: [queue]\n---\n# Queue\n\nEvents wait in [[facts/nothing]] a queue.\n"
    "\n- one\n"
)


@pytest.fixture
def changed(project: Path, git: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change notes of the project in one commit on a branch."""
    monkeypatch.setenv("MEMORY_BANK_EMBEDDER", "none")
    git(project, "branch", "-M", "main")
    git(project, "switch", "-qc", "topic")
    (project / ".memories/facts/queue.md").write_text(NOTE)
    tantivy = project / ".memories/decisions/tantivy.md"
    tantivy.write_text(tantivy.read_text().replace("grows slowly", "grows very slowly"))
    git(project, "add", "-A")
    git(project, "commit", "-qm", "Change notes")
    return project


def test_notes_that_are_not_committed_are_remarked(mb: Run, changed: Path) -> None:
    (changed / ".memories/facts/queue.md").write_text(NOTE + "- two\n")
    (changed / ".memories/facts/new.md").write_text("# New\n")
    said = "2 notes are not committed: memory-bank review --worktree"
    assert said in mb("review").err
    assert said not in mb("review", "--worktree").err
    assert said not in mb("review", "--format", "markdown").err


def test_files_that_are_only_included_now_are_one_line(
    mb: Run, changed: Path, git: Callable[..., str]
) -> None:
    git(changed, "switch", "-q", "main")
    for number in (1, 2):
        (changed / f"docs/adr/{number}.md").parent.mkdir(parents=True, exist_ok=True)
        (changed / f"docs/adr/{number}.md").write_text(f"# Record {number}\n\nWe decided so.\n")
    git(changed, "add", "-A")
    git(changed, "commit", "-qm", "Decide")
    git(changed, "switch", "-qc", "include")
    (changed / ".memories/config.toml").write_text('[memory]\ninclude = ["docs/adr"]\n')
    (changed / "docs/adr/2.md").write_text("# Record 2\n\nWe decided otherwise.\n")
    git(changed, "add", "-A")
    git(changed, "commit", "-qm", "Include records")
    found = mb("review", "--json").json
    assert [one["path"] for one in found["changes"]] == ["docs/adr/2.md"]
    said = "the settings include docs/adr now: 1 unchanged file became notes, not listed here"
    assert said in found["notices"]
