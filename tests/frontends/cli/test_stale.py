"""`memory-bank stale` and `confirm` in a terminal and for programs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.frontends.cli.conftest import Run


@pytest.fixture
def stale(project: Path, git: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change code of the project that a note cites."""
    monkeypatch.setenv("MEMORY_BANK_EMBEDDER", "none")
    (project / "src/index.py").write_text("def build_index(notes):\n    return sorted(notes)\n")
    git(project, "commit", "-qam", "Sort \x1b[31mthe index")
    return project


def test_stale_notes_are_listed_with_the_commits(mb: Run, stale: Path) -> None:
    answer = mb("stale")
    assert answer.code == 0
    assert ".memories/decisions/tantivy.md:" in answer.out
    assert "src/index.py changed" in answer.out
    assert "Test: Sort" in answer.out
    assert "\x1b[31m" not in answer.out
    assert answer.out.splitlines()[0].endswith("in 1 note: confirm, edit or archive")


def test_the_most_certain_come_first(mb: Run, stale: Path, git: Callable[..., str]) -> None:
    first = (
        "def one():\n    return 1\n\n\ndef two():\n    return call(2)\n\n\ndef three():\n    pass\n"
    )
    (stale / "src/new.py").write_text(first)
    names = "# A\n\n`call` [[src/new.py]]\n[[src/new.py#two]]\n[[src/new.py#one]]\n[[src/new.py#three]]\n"
    (stale / ".memories/a.md").write_text(names)
    git(stale, "add", "-A")
    git(stale, "commit", "-qm", "New")
    for number in (3, 4):
        (stale / "src/new.py").write_text(f"def one():\n    return {number}\n")
        (stale / "src/old.py").write_text("def two():\n    return call(2)\n")
        git(stale, "add", "-A")
        git(stale, "commit", "-qm", f"Return {number}")
    lines = mb("stale", "--note", "a").out.splitlines()
    assert lines[0] == "3 of 4 citations in 1 note: confirm, edit or archive"
    assert [line for line in lines if line and line[0] not in " ."][1:] == [
        "gone: 1",
        "changed symbols: 1",
        "changed files: 1",
        "moved or renamed: write the new target: 1",
    ]
    assert "    of what the note names: call" in lines


def test_it_fails_ci_only_on_request(mb: Run, stale: Path) -> None:
    assert mb("stale", "--fail-on", "error").code == 0
    assert mb("stale", "--fail-on", "warning").code == 1
    assert mb("stale", "HEAD..HEAD", "--fail-on", "warning").code == 0
    assert mb("stale", "nothing..HEAD").code == 2


def test_the_json_has_all_that_a_program_needs(mb: Run, stale: Path) -> None:
    found = mb("stale", "--json").json
    assert {one["state"] for one in found["citations"]} == {"changed"}
    assert found["citations"][0]["commits"][0]["author"] == "Test"
    every = mb("stale", "--json", "--all", "--note", "decisions/tantivy").json
    assert {one["path"] for one in every["citations"]} == {"decisions/tantivy.md"}


def test_a_confirmed_note_is_no_longer_listed(mb: Run, stale: Path) -> None:
    answer = mb("confirm", "decisions/tantivy")
    assert answer.code == 0
    assert answer.out.startswith("confirmed .memories/decisions/tantivy.md as of ")
    assert mb("stale").out.startswith("nothing is stale: ")
    assert mb("confirm", "decisions/tantivy", "--json").json["notes"][0]["changed"] is False
    assert mb("confirm", "a", "b", "--if-match", "0" * 64).code == 2
